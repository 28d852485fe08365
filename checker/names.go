package checker

import "slices"

// Rules returns the names of the findings that a check of a history may make,
// each once, in the order of the rules. A name that is not among them is of a
// finding about a simulated run.
func Rules() []string {
	var names []string
	for _, r := range rules {
		if !slices.Contains(names, r.name) {
			names = append(names, r.name)
		}
	}
	for _, r := range transactionRules {
		if !slices.Contains(names, r.name) {
			names = append(names, r.name)
		}
	}
	return append(names, notLinearizable)
}
