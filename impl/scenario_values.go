package impl

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// A claimKey is something that claims may be about, and which values it can have. A
// value it never has is refused: a claim that it is not there could not fail.
type claimKey struct {
	name  string
	value form
}

// A form is a way to write values.
type form struct {
	says    string // what is expected
	is      func(text string) bool
	all     int  // how many values there are, 0 if nobody counts them
	brokers bool // it names brokers
	whole   bool // braces and commas belong to the value: it is no list of alternatives
}

// The keys a claim may have, by what it is about.
var (
	partitionClaims = []claimKey{{"leader", brokerForm}, {"epoch", countForm}, {"partition-epoch", countForm}, {"isr", setForm}, {"elr", setForm},
		{"last-known", brokerForm}, {"recovering", boolForm}, {"hw", leadersForm}, {"leo", leadersForm}}
	brokerClaims = []claimKey{{"state", oneOf(append(lifecycleNames[:], pausedName)...)}, {"fenced", boolForm}, {"role", oneOf(roleNames[:]...)},
		{"epoch", orNoneForm}, {"hw", countForm}, {"leo", countForm}, {"log", logForm}, {"caught-up", orElse(timeForm, "unknown")}}
	clientClaims = []claimKey{{"position", orNoneForm}}
)

var (
	countForm   = integers("an integer from 0", 0)
	orNoneForm  = integers("an integer, -1 for none", none)
	timeForm    = integers("a time in milliseconds", longAgo)
	leadersForm = orElse(countForm, nodeName(nobody))
	boolForm    = oneOf("true", "false")
	brokerForm  = orElse(form{says: "a broker's number", brokers: true, is: func(text string) bool {
		n, err := strconv.Atoi(text)
		return err == nil && n >= 1 && n <= maxBrokers && strconv.Itoa(n) == text
	}}, nodeName(nobody))
	setForm = form{says: "brokers in ascending order, as {1,2}", brokers: true, whole: true, is: isBrokerSet}
	logForm = form{says: "a log as the account shows it, with commas for blanks: 1/0,2/0 or 1..3/0 or -", whole: true, is: isLog}
)

func integers(says string, from int64) form {
	return form{says: says, is: func(text string) bool {
		n, err := strconv.ParseInt(text, 10, 64)
		return err == nil && n >= from && itoa(n) == text
	}}
}

func oneOf(words ...string) form {
	return form{says: "one of " + strings.Join(words, ", "), all: len(words), is: func(text string) bool { return slices.Contains(words, text) }}
}

// orElse also has a word for what is not there.
func orElse(f form, word string) form {
	is := f.is
	f.says, f.is = f.says+", or "+word, func(text string) bool { return text == word || is(text) }
	return f
}

// errAllValues refuses a claim that holds whatever happens.
var errAllValues = errors.New("expected some of the values, not all there are")

// alternatives are the values that a claim accepts.
func (f *form) alternatives(text string) ([]string, error) {
	values := []string{text}
	if inner, ok := strings.CutPrefix(text, "{"); ok && !f.whole {
		values = strings.Split(strings.TrimSuffix(inner, "}"), ",")
	}
	for _, v := range values {
		if !f.is(v) {
			return nil, fmt.Errorf("expected %s", f.says)
		}
	}
	slices.Sort(values)
	if values = slices.Compact(values); f.all > 0 && len(values) == f.all {
		return nil, errAllValues
	}
	return values, nil
}

func isBrokerSet(text string) bool {
	var s brokerSet
	for _, n := range brokersIn(text) {
		s = s.with(n)
	}
	return s.String() == text
}

// brokersIn are the brokers that a value names.
func brokersIn(text string) (named []node) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(word); err == nil && n <= maxBrokers {
			named = append(named, node(n))
		}
	}
	return named
}

// isLog reports whether the account can show a log in these words.
func isLog(text string) bool {
	var l log
	for each := range strings.SplitSeq(text, ",") {
		values, epoch, _ := strings.Cut(each, "/")
		first, last, several := strings.Cut(values, "..")
		if !several {
			last = first
		}
		e, err1 := strconv.ParseInt(epoch, 10, 64)
		from, err2 := strconv.ParseInt(first, 10, 64)
		to, err3 := strconv.ParseInt(last, 10, 64)
		if err1 != nil || err2 != nil || err3 != nil || uint64(to-from) > maxCount {
			return text == "-"
		}
		for v := from; v <= to; v++ {
			l.records = append(l.records, record{value: v, epoch: e})
		}
	}
	return strings.ReplaceAll(logText(&l), " ", ",") == text
}

// checkFindings refuses names that no judge's verdict has.
func checkFindings(names []string) error {
	for _, name := range names {
		of, broken := strings.CutPrefix(name, "invariant ")
		if broken && slices.ContainsFunc(Invariants, func(i Invariant) bool { return i.Name == of }) || !broken && histories.IsAnomaly(name) {
			continue
		}
		var anomalies, invariants []string
		for _, a := range histories.Anomalies {
			anomalies = append(anomalies, a.Name)
		}
		for i := range Invariants {
			invariants = append(invariants, Invariants[i].Name)
		}
		return fmt.Errorf("unknown finding %q; expected one of %s, or the word invariant and one of %s", name, strings.Join(anomalies, ", "), strings.Join(invariants, ", "))
	}
	return nil
}
