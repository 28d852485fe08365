package checker

import (
	"regexp"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// A long answer is shown in part: its ends, or the records that matter.
const (
	longAnswer = 17 // records that are shown as they are
	answerEnds = 8  // records shown of each end
)

// Brief is an operation in the notation. Of a long answer only its ends are
// shown.
func Brief(o *histories.Op) string { return brief(o, nil, nil) }

// brief is an operation in the notation. Of a long answer only those records
// are shown that hold one of the values, or stand at or beside one of the
// offsets; if there are none, its ends. A line is for a person to read.
func brief(o *histories.Op, values []histories.Value, offsets []int64) string {
	n := len(o.Records)
	if n <= longAnswer {
		return o.String()
	}
	shown := make([]bool, n)
	for i, r := range o.Records {
		shown[i] = slices.Contains(values, r.Value) || slices.Contains(offsets, r.Offset)
	}
	for _, offset := range offsets {
		if !slices.ContainsFunc(o.Records, func(r histories.Record) bool { return r.Offset == offset }) {
			showBeside(o.Records, shown, offset)
		}
	}
	if !slices.Contains(shown, true) {
		for i := range answerEnds {
			shown[i], shown[n-1-i] = true, true
		}
	}
	return withRecords(o, shown)
}

// Of a long text a sentence has its ends: what became of a record stands behind
// its value.
const (
	longText = 64 // letters that are shown as they are
	textHead = 40
	textTail = 16
)

var texts = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// shortened is a sentence with long values in part.
func shortened(sentence string) string {
	return texts.ReplaceAllStringFunc(sentence, func(value string) string {
		letters := []rune(value)
		if len(letters) <= longText {
			return value
		}
		return string(letters[:textHead]) + "..." + string(letters[len(letters)-textTail:])
	})
}

// showBeside shows the records before and behind an offset that holds none.
func showBeside(records []histories.Record, shown []bool, offset int64) {
	behind := slices.IndexFunc(records, func(r histories.Record) bool { return r.Offset > offset })
	if behind < 0 {
		behind = len(records)
	}
	for i := max(0, behind-1); i < min(behind+1, len(records)); i++ {
		shown[i] = true
	}
}

// withRecords writes an operation with some of its records, and dots for the
// others.
func withRecords(o *histories.Op, shown []bool) string {
	var words []string
	for i, r := range o.Records {
		switch {
		case shown[i]:
			one := *o
			one.Records = []histories.Record{r}
			words = append(words, inBrackets(one.String()))
		case i == 0 || shown[i-1]:
			words = append(words, "...")
		}
	}
	none := *o
	none.Records = nil
	return strings.Replace(none.String(), "=> ok []", "=> ok ["+strings.Join(words, " ")+"]", 1)
}

// inBrackets returns what stands between the brackets of an answer.
func inBrackets(text string) string {
	_, rest, _ := strings.Cut(text, "=> ok [")
	return rest[:strings.LastIndexByte(rest, ']')]
}
