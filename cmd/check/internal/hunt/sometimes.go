package hunt

import "github.com/isrcheck/isrcheck/histories"

// add looks in a trial's history for the fate of sends nobody was told of.
func (s *Sometimes) add(t *Trial) {
	seen := map[histories.Value]bool{}
	scanned := false
	for _, o := range t.History.Ops() {
		for _, r := range o.Records {
			seen[r.Value] = true
		}
		scanned = scanned || o.Kind == histories.Scan && o.Outcome == histories.OK
	}
	for _, o := range t.History.Ops() {
		if o.Kind != histories.Send || o.Outcome == histories.OK || o.Outcome == histories.Fail {
			continue
		}
		switch {
		case seen[o.Values[0]]:
			s.UnknownTookEffect++
		case scanned:
			s.UnknownDidNot++
		}
	}
}
