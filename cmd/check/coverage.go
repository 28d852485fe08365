package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/impl"
)

// coverage says what a hunt exercised, so that nothing green is empty.
func coverage(r *hunt.Report) string {
	e, s := r.Exercised, r.Stats
	rows := [][]string{{"  verdicts", fmt.Sprintf("%s ok, %s unknown, %s failed", number(r.OK), number(r.Undecided), number(failed(r)))}}
	for _, reason := range checker.ByCount(r.Reasons) {
		first := r.FirstOf[reason]
		rows = append(rows, []string{"  unknown", fmt.Sprintf("%s of them, as schedule %d: %s", number(r.Reasons[reason]), first.Number, first.Reason)})
	}
	if r.Allowed > 0 {
		rows = append(rows, []string{"  permitted", fmt.Sprintf("findings in %s that the settings or the protocol permit: %s", count(r.Allowed, "schedule"), permitted(r))})
	}
	rows = append(rows,
		[]string{"  clients", fmt.Sprintf("%s: %s (%s acknowledged), %s with %s, %s of whole logs",
			count(e.Operations, "operation"), count(e.Sends, "send"), number(e.Acknowledged),
			count(e.Reads, "read"), count(e.Records, "record"), count(e.Scans, "scan"))},
		[]string{"  unclear sends", fmt.Sprintf("%s took effect, %s did not", number(r.Sometimes.UnknownTookEffect), number(r.Sometimes.UnknownDidNot))},
		[]string{"  cluster", fmt.Sprintf("%s (%s unclean), %s of %s, %s and %s of the ISR, %s refused for too small an ISR",
			count(int(s.Elections), "election"), number(int(s.UncleanElections)), count(int(s.Truncations), "truncation"), count(int(s.RecordsTruncated), "record"),
			count(int(s.IsrShrinks), "shrinkage"), count(int(s.IsrExpansions), "expansion"), count(int(s.NotEnoughReplicas), "send"))},
		[]string{"  settings", mattering(r.Sometimes)},
		[]string{"  faults", faults(s)},
		[]string{"  simulated", fmt.Sprintf("%s of cluster time, %s", time.Duration(s.Ticks)*time.Millisecond, count(int(s.Events), "event"))},
	)
	return table(rows)
}

// failed is how many runs did.
func failed(r *hunt.Report) int { return r.Runs - r.OK - r.Undecided }

// permitted lists the findings that do not count, by name.
func permitted(r *hunt.Report) string {
	names := checker.ByCount(r.Permitted)
	for i, name := range names {
		names[i] = name + " " + number(r.Permitted[name])
	}
	return strings.Join(names, ", ")
}

// faults lists the faults that were applied, by name.
func faults(s impl.Stats) string {
	var names []string
	for i, n := range s.Faults {
		if n > 0 {
			names = append(names, impl.Faults[i].Verb+" "+number(int(n)))
		}
	}
	if len(names) == 0 {
		return "none"
	}
	for i, n := range s.Moments {
		if n > 0 {
			names = append(names, "on "+impl.Moments[i].Name+" "+number(int(n)))
		}
	}
	return strings.Join(names, ", ")
}

// mattering lists the settings that made a difference, and in how many schedules.
func mattering(s hunt.Sometimes) string {
	var names []string
	for i, n := range s.Settings {
		if n > 0 {
			names = append(names, hunt.Settings[i].String()+" "+number(n))
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none made a difference")
}

// The JSON of what a hunt covered. Names are part of the command line's contract.
type jsonCoverage struct {
	Schedules         int            `json:"schedules"`           // that were run
	OK                int            `json:"ok"`                  // schedules with this verdict
	Undecided         int            `json:"undecided"`           // schedules with the verdict unknown
	Reasons           map[string]int `json:"reasons"`             // of the undecided, by kind
	Allowed           int            `json:"allowed"`             // schedules with allowed findings
	Permitted         map[string]int `json:"permitted"`           // schedules by allowed finding
	Exercised         jsonExercised  `json:"exercised"`           // of all histories together
	UnknownTookEffect int            `json:"unknown_took_effect"` // sends that ended with info and were read
	UnknownDidNot     int            `json:"unknown_did_not"`     // sends that ended with info and were not
	Elections         int64          `json:"elections"`           // of leaders
	UncleanElections  int64          `json:"unclean_elections"`   // of leaders from outside the ISR
	Truncations       int64          `json:"truncations"`         // of replicas
	RecordsTruncated  int64          `json:"records_truncated"`   // in these
	ISRShrinks        int64          `json:"isr_shrinks"`         // of all partitions
	ISRExpansions     int64          `json:"isr_expansions"`      // of all partitions
	NotEnoughReplicas int64          `json:"not_enough_replicas"` // answers that refused a send for that
	Settings          map[string]int `json:"settings"`            // schedules in which they made a difference, by key=value
	Faults            map[string]int `json:"faults"`              // applied, by name
	Moments           map[string]int `json:"moments"`             // for which faults that were applied had waited, by name
	SimulatedMs       int64          `json:"simulated_ms"`        // of all clusters, in milliseconds
	Events            int64          `json:"events"`              // of the simulation
}

func coverageJSON(r *hunt.Report) jsonCoverage {
	s := r.Stats
	byName := map[string]int{}
	for i, n := range s.Faults {
		byName[impl.Faults[i].Verb] = int(n)
	}
	byMoment := map[string]int{}
	for i, n := range s.Moments {
		byMoment[impl.Moments[i].Name] = int(n)
	}
	bySetting := map[string]int{}
	for i, n := range r.Sometimes.Settings {
		bySetting[hunt.Settings[i].String()] = n
	}
	return jsonCoverage{
		Schedules: r.Runs, OK: r.OK, Undecided: r.Undecided, Reasons: r.Reasons, Allowed: r.Allowed, Permitted: r.Permitted,
		Exercised:         jsonExercised(r.Exercised),
		UnknownTookEffect: r.Sometimes.UnknownTookEffect, UnknownDidNot: r.Sometimes.UnknownDidNot,
		Elections: s.Elections, UncleanElections: s.UncleanElections,
		Truncations: s.Truncations, RecordsTruncated: s.RecordsTruncated,
		ISRShrinks: s.IsrShrinks, ISRExpansions: s.IsrExpansions, NotEnoughReplicas: s.NotEnoughReplicas,
		Settings: bySetting, Faults: byName, Moments: byMoment, SimulatedMs: s.Ticks, Events: s.Events,
	}
}
