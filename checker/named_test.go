package checker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// named are findings with what they say and the lines that they name, of which the
// one marked with ! is at fault. A history begins in line 2.
var named = []struct {
	what, config, history string
	rule, says            string
	lines                 string
}{
	{
		"a poll behind another", "acks=all", `
1-2 P1 send 1 => ok @0
3-4 P1 send 2 => ok @1
5-6 P1 send 3 => ok @2
7-8 C1 poll => ok [0:1]
9-10 C1 poll => ok [2:3]
11-12 S1 scan => ok [0:1 1:2 2:3] end=3`,
		"poll-skip", "Record 2 at offset 1 was skipped by C1, which was at position 1 and was handed offset 2, and it is there: S1 read it",
		"6 7! 8",
	},
	{
		"a poll behind an assignment by the group", "acks=all assignment=subscribe", `
1-2 P1 send 1,2,3 => ok @0
3-4 C1 subscribe => ok
5 client C1 assigned from=1
6-7 C1 poll => ok [2:3]
8-9 S1 scan => ok [0:1 1:2 2:3] end=3`,
		"poll-skip", "Record 2 at offset 1 was skipped by C1, which was at position 1 and was handed offset 2, and it is there: S1 read it",
		"5 6! 7",
	},
	{
		"a poll behind a reset to a start that is told later", "acks=all", `
1-2 P1 send 1,2,3 => ok @0
3-4 C1 poll => ok [0:1]
5 client C1 reset earliest
6-7 C1 poll => ok [2:3]
8-9 S1 scan => ok [0:1 1:2 2:3] end=3
10-11 A1 list earliest => ok @0`,
		"poll-skip", "Record 1 at offset 0 was skipped by C1, which was at position 0 and was handed offset 2, and it is there: S1 read it",
		"5 6! 7 8",
	},
	{
		"a fetch that told where its consumer stands", "acks=all", `
1-2 P1 send 1 => ok @0
3-4 P1 send 2 => ok @1
5-6 A1 delete-records 2 => ok start=2
7-8 P1 send 3 => ok @2
9-10 C1 fetch from=1 => fail code=OFFSET_OUT_OF_RANGE
11-12 C1 poll => ok [2:3]`,
		"poll-skip", "Record 2 at offset 1 was skipped by C1, which was at position 1 and was handed offset 2, and no reset explains that",
		"4 5 7 8!",
	},
	{
		"a poll that went on behind a lost record", "acks=all", `
1-2 P1 send 1 => ok @0
3-4 P1 send 2 => ok @1
5-6 P1 send 3 => ok @2
7-8 C1 poll => ok [0:1]
9-10 C1 poll => ok [2:3]`,
		"lost-write", "Record 2 was acknowledged at offset 1 and is gone: C1, at position 1, read past offset 1 and found nothing there",
		"4 6 7!",
	},
	{
		"an exact poll that found nothing", "acks=all reads=linearizable", `
1-2 P1 send 1 => ok @0
3-4 C1 seek 0 => ok
5-6 C1 poll => ok []`,
		"stale-read", "The log had reached offset 1 before the read of C1 began, which saw it end at 0",
		"3 4 5!",
	},
	{
		"a poll over a hole", "acks=all offsets=dense", `
1-2 P1 send 1 => ok @-
3-4 P1 send 2 => ok @-
5-6 C1 seek 0 => ok
7-8 C1 poll => ok [1:1 2:2]`,
		"gap", "Offset 0 holds nothing, and C1, at position 0, read past it",
		"5 6!",
	},
	{
		"a scan whose beginning is told", "acks=all", `
1-2 P1 send 1 => ok @0
3-4 P1 send 2 => ok @1
5-6 S1 scan => ok [1:2] end=2
7-8 A1 list earliest => ok @0`,
		"lost-write", "Record 1 was acknowledged at offset 0 and is gone: S1 read the whole log and offset 0 holds nothing",
		"3 5! 6",
	},
	{
		"a scan that begins at the told start", "acks=all", `
1-2 P1 send 1 => ok @0
3-4 A1 delete-records 1 => ok start=1
5-6 P1 send 2 => ok @-
7-8 P1 send 3 => ok @1
9-10 S1 scan => ok [1:3] end=2`,
		"lost-write", "Record 2 was acknowledged and is gone: S1 read the whole log without it",
		"4 5 7!",
	},
	{
		"a scan that reaches a later record", "acks=all offsets=dense", `
1-3 P1 send 1 => ok @-
4-5 P2 send 2 => ok @0
2-9 S1 scan => ok [0:2]`,
		"lost-write", "Record 1 was acknowledged and is gone: S1 read the whole log without it",
		"3 5! 4",
	},
	{
		"a record whose key nobody replaced", "acks=all cleanup.policy=compact", `
1-2 P1 send 1 key=1 => ok @0
3-4 P1 send 2 key=2 => ok @1
5-6 C1 assign from=0 => ok
7-8 C1 poll => ok [1:2]
9-10 S1 scan => ok [0:1 1:2] end=2`,
		"poll-skip", "Record 1 at offset 0 was skipped by C1, which was at position 0 and was handed offset 1, and it is there: S1 read it",
		"3 5 6! 7",
	},
	{
		"three copies in two answers", "acks=all enable.idempotence=true offsets=dense", `
16-19 P1 send "1","a b","a b" => ok @0
25-34 S1 scan => ok [0:"a b" 1:"1" 2:"a b"] end=3
27-28 C1 fetch from=1 => ok [1:"a b" 2:"a b"] hw=3`,
		"duplicate", `Record "a b" was sent twice and is in the log 3 times, at offsets 0 and 2 and 1 more between them`,
		"3 4 5!",
	},
	{
		"a copy in each of two answers", "acks=all enable.idempotence=true", `
1-2 P1 send 1 => ok @0
3-4 C1 fetch from=0 => ok [0:1]
5-6 C2 fetch from=4 => ok [4:1]
7-8 S1 scan => ok [0:1 4:1] end=5`,
		"duplicate", "Record 1 was sent once and is in the log twice, at offsets 0 and 4",
		"3 6!",
	},
	{
		"two sends of a value", "acks=all enable.idempotence=true", `
1-2 P1 send 1 => ok @0
1-2 P2 send 1 => ok @1
3-4 C1 fetch from=0 => ok [0:1 1:1]
5-6 C2 fetch from=2 => ok [2:1]
7-8 C3 fetch from=3 => ok [3:1]`,
		"duplicate", "Record 1 was sent twice and is in the log 3 times, at offsets 0 and 2 and 1 more between them",
		"3 4 5 6!",
	},
	{
		"a copy below a start that may have been reached", "acks=all enable.idempotence=true", `
1-2 P1 send 1,2 => ok @0
3-4 C1 fetch from=0 => ok [0:1 1:2]
5-6 A1 delete-records 1 => info
7-8 C2 fetch from=2 => ok [2:1]`,
		"duplicate", "Record 1 was sent once and is in the log twice, at offsets 0 and 2",
		"3 4 5 6!",
	},
	{
		"records that changed places", "acks=all enable.idempotence=true", `
1-2 P1 send 1 => ok @0
3-4 P2 send 2 => ok @1
5-6 S1 scan => ok [0:1 1:2] end=2
7-8 S1 scan => ok [0:2 1:1] end=2`,
		"lost-write", "Record 1 was acknowledged at offset 0 and is not there any more: offset 0 now holds 2, and the last scan has it at offset 1",
		"3 5 6!",
	},
	{
		"the same, as two records at one offset", "acks=all enable.idempotence=true", `
1-2 P1 send 1 => ok @0
3-4 P2 send 2 => ok @1
5-6 S1 scan => ok [0:1 1:2] end=2
7-8 S1 scan => ok [0:2 1:1] end=2`,
		"inconsistent-offsets", "Offset 0 has two records: record 1 was acknowledged to P1, record 2 was read by S1",
		"3 5 6!",
	},
	{
		"a record that moved after it was read", "acks=all enable.idempotence=true", `
1-2 P1 send 1 => info
3-4 C1 fetch from=0 => ok [0:1]
5-6 C1 fetch from=0 => ok [1:1]
7-8 S1 scan => ok [1:1] end=2`,
		"read-then-lost", "Record 1 was read by C1 at offset 0 and later is not there any more: C1 read past offset 0 and found nothing there, and the last scan has it at offset 1",
		"4 5! 6",
	},
	{
		"an offset that follows from what was read", "acks=all enable.idempotence=true", `
1-2 P1 send 1 => ok @0
10-12 P2 send 2,3,4 => ok @-
11-11 C1 fetch from=2 => ok [2:3 3:4]
12-14 C2 fetch from=0 => ok [0:1 1:5] hw=4
16-17 P3 send 5 => ok @-`,
		"lost-write", "Record 2 was acknowledged with record 3, which C1 read at offset 2, and is gone: offset 1 now holds 5",
		"4 5 6!",
	},
	{
		"an offset that follows from a read of the record", "acks=all enable.idempotence=true", `
1-2 P1 send 1 => ok @-
3-4 C1 fetch from=0 => ok [0:1]
5-6 S1 scan => ok [] end=0`,
		"lost-write", "Record 1 was acknowledged, was read by C1 at offset 0 and is gone: the healed log ends at 0",
		"3 4 5!",
	},
	{
		"a value that another send may have put elsewhere", "acks=all enable.idempotence=true", `
1-2 P1 send 1 => ok @3
1-2 P2 send 1 acks=1 => ok @-
3-4 S1 scan => ok [1:1 3:2] end=4`,
		"lost-write", "Record 1 was acknowledged at offset 3 and is gone: offset 3 now holds 2",
		"3 4 5!",
	},
	{
		"a batch where another record was before it was sent", "acks=all enable.idempotence=true", `
3-7 P1 send 4 => ok @3
5-5 P2 send 1,2,3 => ok @0
7-7 C1 fetch from=1 => ok [1:2 2:3] hw=4
7-11 P3 send 5,6 => info
8-13 S1 scan => ok [0:1 1:2 2:6 3:4] end=5`,
		"lost-write", "Record 5 was committed with the rest of its batch at offset 1 and is not at offset 1: record 2 was, before the send of record 5 began",
		"4 6 7!",
	},
	{
		"the same, as two records at one offset", "acks=all enable.idempotence=true", `
3-7 P1 send 4 => ok @3
5-5 P2 send 1,2,3 => ok @0
7-7 C1 fetch from=1 => ok [1:2 2:3] hw=4
7-11 P3 send 5,6 => info
8-13 S1 scan => ok [0:1 1:2 2:6 3:4] end=5`,
		"inconsistent-offsets", "Offset 1 has two records: record 2 was acknowledged to P2, record 5 belongs to a batch that was read",
		"4 6 7!",
	},
	{
		"an offset told twice", "acks=all enable.idempotence=true", `
1-2 P1 send 1 => ok @0
3-4 P2 send 2 => ok @0
5-6 S1 scan => ok [0:1] end=1`,
		"lost-write", "Record 2 was acknowledged at offset 0 and is not at offset 0: record 1 was, before the send of record 2 began",
		"3 4! 5",
	},
}

// TestNamed asks what findings say and which operations they name.
func TestNamed(t *testing.T) {
	for _, c := range named {
		t.Run(c.what, func(t *testing.T) {
			h, err := histories.Parse("named.hist", []byte("history 1\nconfig "+c.config+c.history+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			r := Check(context.Background(), h, Options{})
			i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Name == c.rule })
			if i < 0 {
				t.Fatalf("%v, want %s", r.Names(), c.rule)
			}
			if got := linesOf(r.Findings[i]); got != c.lines || r.Findings[i].Says != c.says {
				t.Errorf("%s by lines %s, want lines %s and\n%s", r.Findings[i].Says, got, c.lines, c.says)
			}
		})
	}
}

// linesOf are the lines that a finding names.
func linesOf(f Finding) string {
	var lines []string
	for _, e := range f.Evidence {
		line := fmt.Sprint(e.Line)
		if e.Should != "" {
			line += "!"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, " ")
}
