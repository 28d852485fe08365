package main

import (
	"regexp"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// formatExample is a history that the page about the format shows.
const formatExample = `history 1
config acks=all min.insync.replicas=2
expect ok
# P1 sends two batches while C1 reads.
1-4 P1 send 1,2 => ok @0
3-6 C1 fetch from=0 => ok [0:1] hw=1
5- P1 send 3
7 nemesis crash broker=1
8-9 C1 list latest => ok @3
10-11 C1 scan => ok [0:1 1:2 2:3] end=3
`

// formatHeader shows all that a header may have.
const formatHeader = `history 1
config acks=1 isolation.level.C2=read_committed x-run=17
note source=three brokers in containers
expect violation lost-write,gap
schedule
set brokers=3
20 P1 send 1
fingerprint 9c1f02ab55d01e77
end
`

// formatOperations shows every operation and every outcome, one a line, with
// all that they may have.
const formatOperations = `1-2 P1 send 1,"a b" key="k" acks=1 tx=T1 ts=1700000000000 => ok @0
3-4 P1 send 3 => ok @-
5-6 P1 send 4 => fail code=MESSAGE_TOO_LARGE
7-8 P1 send 5 => info code=REQUEST_TIMED_OUT @7
9-10 C1 fetch from=0 max=100 on=t/3 => ok [0:1 1:"a b"] hw=2 lso=2 start=0
11-12 C1 poll => ok [] hw=2 lso=2
13-14 C1 scan => ok [0:1] end=1
15-16 C1 list latest => ok @2
17-18 C1 list earliest => ok @0
19-20 C1 list ts=1700000000000 => ok @1
21-22 C1 assign from=0 => ok
23-24 C1 subscribe => ok
25-26 C1 seek 5 => ok
27-28 C1 commit-offset 5 => ok
29-30 C1 delete-records 5 => ok start=5
31-32 P1 begin tx=T1 => ok
33-34 P1 commit tx=T1 => ok
35-36 P1 abort tx=T1 => fail code=INVALID_TXN_STATE
`

// formatMarks shows the marks.
const formatMarks = `1 nemesis crash broker=1
2 client C1 reset 5
3 client C1 reset latest
4 client C1 assigned from=5
5 client C1 revoked on=t/3
6 client C1 crash
7 client C1 note anything, for people
`

// formatPipelined shows two sends of one process under way at once.
const formatPipelined = `1-4 P1 send 1 => ok @0
2-3 P1 send 2 => ok @1
`

// format is the reference of the format.
func format() string {
	return `A history is what the clients of a log saw. Two encodings have the same content:
.hist, one whole operation a line, for people, and .jsonl, one event a line, for
programs ('check convert' translates). A .hist:

` + indent(formatExample) + `
The same as .jsonl:

` + indent(asEvents(formatExample)) + `
Operations of a .hist

An operation is CALL-RETURN PROCESS OPERATION => OUTCOME RESULT, with times as whole
numbers from one clock that never goes back. The outcome is ok (it happened), fail (it
certainly did not and never will) or info (nobody knows: a time-out); without RETURN and
all from "=>" on, the client was still waiting. What an ok says:

` + indent(table([][]string{
		{"send V[,V...] [key=K] [acks=all|1|0] [ts=N]", "@N, the offset of the first record, or @- where none was told"},
		{"fetch from=N [max=N]", "[OFFSET:VALUE ...] [hw=N] [lso=N] [start=N]"},
		{"poll", "[OFFSET:VALUE ...] [hw=N] [lso=N], from the consumer's own position"},
		{"scan", "[OFFSET:VALUE ...] [end=N]: the whole log, when all is healed"},
		{"list latest|earliest|ts=N", "@N"},
		{"assign from=N, seek N, subscribe", "nothing: the position is set"},
		{"commit-offset N", "nothing: the group's offset is set"},
		{"delete-records N", "start=N, where the log begins now"},
		{"begin|commit|abort tx=T", "nothing"},
	})) + `

Every operation may have on=TOPIC/PARTITION (t/0 if it has not) and tx=T. A fail and an
info may have code=NAME, Kafka's name of the error; the info of a send also the offset @N
that it would have. hw, lso, start and end are what an answer reported besides: the high
watermark, the last stable offset, the begin and the end of the log. Offsets and
times are 0 or more. A value or a key is an integer or a quoted string; values are
unique in a partition. A word of letters, digits and _-.:/#+, stands for itself, any
other in double quotes with the escapes of JSON. One process does one thing at a time,
except that its sends may overlap. What was called at one instant has no order, whichever line
comes first. What list ts=N answers is recorded and not judged. A commit or an abort that waits for sends, as those of
Kafka's Java client do, is called when the last of them has ended: before a commit, flush.

Operations of a .jsonl

Every event has "time", "process", "type" (invoke, and later ok, fail or info) and "f", the
operation; "index" counts lines and may be left out, as may what a completion only repeats.
An offset is "offset", be it told or asked for (null, or none, where none was told), values
are "values", records [OFFSET,VALUE] in "records". Readers skip keys that begin with "x-".
A file whose config has "x-written":"as-it-goes" may end within a line, or a frame of packed
data, because its writer was killed: that end is left out, a note says so, and the verdict is
not ok. In any other file it is an error. With "x-end":"marked" a file ends with the note
"` + histories.Complete + `", and without it the verdict is not ok either.
A note that begins with "` + histories.Unjudged + `" says what of the answers is not told: the
verdict is not ok then. So it is, too, if none of ten sends or
more was acknowledged and no record was read. An operation that has no completion was never
answered. Each as .hist and as .jsonl:

` + indent(eachInBoth(formatOperations)) + `Sends of a process that overlap need an "id" that pairs their events:

` + indent(inBoth(formatPipelined)) + `Marks

A mark is a fault, in words, or a client's marker: reset, assigned and revoked (by a
rebalance) and crash explain why its position jumps, a note explains nothing. A marker of a
time at which a poll of that client was under way may have come before what the poll handed
out, or behind it.

` + indent(eachInBoth(formatMarks)) + `The header

The first line is "history 1". All else may be left out: the settings ('check help
settings'); a note; the verdict that 'check verify --expect' demands, "expect ok",
"expect unknown" or "expect violation NAME[,NAME...]" ('check help anomalies'); and the schedule
that caused the history ('check help schedule'), from a line "schedule" to a line "end".
Blank lines and whole lines that begin with # are comments, in .jsonl {"x-comment":"# ..."}.

` + indent(formatHeader+asEvents(formatHeader)) + `
Always end with a scan: what is never read can be judged by nobody.`
}

// asEvents is a .hist as .jsonl.
func asEvents(text string) string {
	h, err := histories.Parse("format", []byte(text))
	if err != nil {
		panic(err) // a constant
	}
	return withoutIndex.ReplaceAllString(string(h.AppendEvents(nil)), "{")
}

// withoutIndex finds what events need not say.
var withoutIndex = regexp.MustCompile(`(?m)^\{"index":[0-9]+,`)

// inBoth is lines of a .hist and, below them, the events they become.
func inBoth(lines string) string {
	_, events, _ := strings.Cut(asEvents("history 1\n"+lines), "\n")
	return lines + events + "\n"
}

// eachInBoth is the same line by line.
func eachInBoth(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		b.WriteString(inBoth(line))
	}
	return b.String()
}
