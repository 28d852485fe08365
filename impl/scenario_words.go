package impl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// accountWords are the words of an account that are in no table.
const accountWords = `
ELECTION_NOT_NEEDED ELIGIBLE_LEADERS_NOT_AVAILABLE INVALID_REPLICA_ASSIGNMENT ISR NO_REASSIGNMENT_IN_PROGRESS
PREFERRED_LEADER_NOT_AVAILABLE S1 a above acknowledged adding after again ago agree ahead all allowed already an and
another answer answers anything appended appends ar are as assigned assignment at back balanced be before below both
broken broker broker.heartbeat.interval.ms broker.session.timeout.ms brokers by cache came client clock comes
commits committed controller decides decreases default.api.timeout.ms deletes differ does down drops elected
election eligible elr end epoch expected failed fenced fetch fewer final first flight flushed follower for former
from given goes going had has have here high hw in in-sync incarnation incomplete invariant is isr it its itself
known lacks last lasts leader leads left leo line live log losses lost maximal may member messages metadata
min.insync.replicas ms named nemesis network never next no nobody node none not nothing number of offset on one only
or other over partition paused permitted preferred proposal proposals proposes q read reassignment record records
recovering recovery refuses removing replica replicas request restarts run running scan sends service session
shorter shutdowns small so some standing start starts step stops such sync t takes than that the there to told too
truncates twice unclean under unfenced unknown up value waiting waits was watermark way where which while with would
x
`

// operationWords are the words of an operation's line, besides those of schedules.
const operationWords = "client ok fail info scan hw end code"

var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9]|[A-Za-z]`)

// wordsIn are the words of a text, whatever stands between them.
func wordsIn(text string) []string { return word.FindAllString(text, -1) }

// vocabulary are all words that accounts of a schedule can have.
func vocabulary(s *schedule.Schedule) []string {
	words := strings.Fields(accountWords + operationWords)
	for i := range Invariants {
		words = append(words, Invariants[i].Name)
	}
	for i := range errorNames {
		words = append(append(words, errorNames[i]), wordsIn(errorMeans[i])...)
	}
	verb := func(name string, args []ArgSpec) {
		words = append(words, name)
		for i := range args {
			words = append(append(words, args[i].Key), args[i].Values...)
		}
	}
	for i := range Faults {
		verb(Faults[i].Verb, faultArgs[i])
	}
	for i := range ClientVerbs {
		verb(ClientVerbs[i].Verb, ClientVerbs[i].Args)
		words = append(words, wordsIn(ClientVerbs[i].Words)...)
	}
	for i := range Roles {
		words = append(words, Roles[i].Name)
	}
	for i := range s.Steps {
		words = append(words, s.Steps[i].Actor)
	}
	return words
}

// sayable refuses claims about words that no account can have: that they are not in
// this one could not fail.
func (s *scenario) sayable() error {
	known := vocabulary(&s.schedule)
	for i := range s.blocks {
		for _, cmd := range s.blocks[i].does {
			if cmd.about != theTrace {
				continue
			}
			if err := checkWords(cmd.words, known); err != nil {
				return s.errorAt(cmd.line, "%v", err)
			}
		}
	}
	return nil
}

func checkWords(text string, known []string) error {
	if histories.IsAnomaly(text) {
		return fmt.Errorf("%s is a finding; expected violation or allowed before it", text)
	}
	for _, w := range wordsIn(text) {
		if !slices.Contains(known, w) {
			return fmt.Errorf("%q is no word of an account; expected %s", w, expectation)
		}
	}
	return nil
}
