package hunt

import "strings"

// Save writes the trial's case into a folder, which it makes if there is none,
// under a name made of the rule and the run's fingerprint. It writes over
// nothing: where the name is taken, it appends a number. It returns the path.
func (t *Trial) Save(folder string) (string, error) {
	h, err := t.Case()
	if err != nil {
		return "", err
	}
	return h.WriteNew(folder, t.FileName())
}

// FileName is what the trial's case is called, without the ending.
func (t *Trial) FileName() string {
	rule := t.Rule()
	if rule == "" {
		rule = t.Result.Verdict.String()
	}
	return strings.ReplaceAll(rule, " ", "-") + "-" + t.Run.Fingerprint
}
