package hunt

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// Sometimes counts what must happen now and then if green is to mean anything.
type Sometimes struct {
	UnknownTookEffect int   // sends of unknown outcome whose value was read
	UnknownDidNot     int   // the same, never read although the log was scanned
	Settings          []int // runs in which a setting made a difference, by place in Settings
}

// A Setting is a choice of the settings, and how a run shows that it mattered.
type Setting struct {
	Key, Value string

	mattered func(*Trial) bool
}

// Settings are the choices that a hunt must have seen at work.
var Settings = []Setting{
	{"acks", "1", func(t *Trial) bool { return t.sends(func(op *histories.Op) bool { return op.Acks == "1" }) }},
	{"acks", "0", func(t *Trial) bool { return t.sends(func(op *histories.Op) bool { return op.Acks == "0" }) }},
	{"partitions", "2", func(t *Trial) bool { return t.sends(onSecond) }},
	{"partitions", "3", func(t *Trial) bool { return t.sends(onSecond) }},
	{"reads", "linearizable", func(t *Trial) bool { return t.Run.Stats.BarrierReads > 0 }},
	{"fetch.from", "any", func(t *Trial) bool { return t.Run.Stats.FollowerReads > 0 }},
	{"enable.idempotence", "true", func(t *Trial) bool { return t.Run.Stats.Duplicates > 0 }},
	{"eligible.leader.replicas.enable", "true", func(t *Trial) bool { return t.Run.Stats.Eligible > 0 }},
	{"unclean.leader.election.enable", "true", func(t *Trial) bool { return t.Run.Stats.UncleanElections > 0 }},
	{"truncation", "kip279", func(t *Trial) bool { return t.Run.Stats.Truncations > 0 }},
	{"log.flush.interval.messages", "1", func(t *Trial) bool { return t.Run.Stats.Flushes > 0 }},
	{"log.flush.interval.messages", "2", func(t *Trial) bool { return t.Run.Stats.Flushes > 0 }},
}

func (s *Setting) String() string { return s.Key + "=" + s.Value }

func onSecond(op *histories.Op) bool { return op.On != histories.DefaultPartition }

// sends reports whether a send of some kind succeeded.
func (t *Trial) sends(kind func(*histories.Op) bool) bool {
	return slices.ContainsFunc(t.History.Ops(), func(op histories.Op) bool {
		return op.Kind == histories.Send && op.Outcome == histories.OK && kind(&op)
	})
}

// chose reports whether a schedule makes a choice; acks is a send's own.
func (s *Setting) chose(settings []schedule.Setting) bool {
	return s.Key == "acks" || slices.Contains(settings, schedule.Setting{Key: s.Key, Value: s.Value})
}

// add looks in a trial for what mattered, and in its history for the fate of
// sends nobody was told of.
func (s *Sometimes) add(t *Trial) {
	if s.Settings == nil {
		s.Settings = make([]int, len(Settings))
	}
	for i := range Settings {
		if c := &Settings[i]; c.chose(t.Schedule.Settings) && c.mattered(t) {
			s.Settings[i]++
		}
	}
	s.addUnknown(t.History)
}

func (s *Sometimes) addUnknown(h *histories.History) {
	if !slices.ContainsFunc(h.Ops(), isUnknown) {
		return
	}
	seen := map[histories.Value]bool{}
	scanned := false
	for _, o := range h.Ops() {
		for _, r := range o.Records {
			seen[r.Value] = true
		}
		scanned = scanned || o.Kind == histories.Scan && o.Outcome == histories.OK
	}
	for _, o := range h.Ops() {
		if !isUnknown(o) {
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

// isUnknown reports whether an operation is a send of which nobody knows whether it
// took effect.
func isUnknown(o histories.Op) bool {
	return o.Kind == histories.Send && o.Outcome != histories.OK && o.Outcome != histories.Fail
}
