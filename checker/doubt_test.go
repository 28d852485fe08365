package checker

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/isrcheck/isrcheck/histories"
)

// TestReasonKinds counts what is undecided for one reason once: whatever the numbers,
// the values and the partition are in it, and whether there is one of something or are
// several.
func TestReasonKinds(t *testing.T) {
	const scan = "99-99 S1 scan => ok [] end=0\n"
	for _, c := range []struct {
		says     string // in each of them
		variants []string
	}{
		{"nothing was at stake: ", []string{
			"1-2 C1 fetch from=0 => ok [] hw=0\n", "1-2 C1 fetch from=0 => ok [] hw=0\n3-4 C1 fetch from=0 => ok [] hw=0\n", "1-2 P1 send 1 => info\n",
			sends(2, "info"), sends(1017, "info")}},
		{"was acknowledged, and no record was read", []string{
			sends(10, "fail code=NOT_ENOUGH_REPLICAS") + scan, sends(12, "info code=CLIENT_TIMEOUT") + scan, sends(1017, "fail") + strings.ReplaceAll(scan, "99", "2099")}},
		{"never read (unseen)", []string{
			"1-2 P1 send 1 => ok @0\n3-4 C1 fetch from=0 => ok [] hw=0\n", sends(3, "ok @-") + "30-31 C1 fetch from=0 => ok [] hw=0\n",
			"1-2 P1 send \"seen 1\" on=b/1 => ok @0\n3-4 C1 fetch from=0 on=b/1 => ok [] hw=0\n"}},
		{"a scan begins behind offset", []string{
			"1-2 P1 send 1 => ok @0\n3-4 P1 send 2 => ok @1\n5-6 S1 scan => ok [1:2] end=2\n",
			"1-2 P1 send \"a 1\" on=b/1 => ok @0\n3-4 P1 send 2 on=b/1 => ok @1\n5-6 P1 send 3 on=b/1 => ok @2\n7-8 S1 scan on=b/1 => ok [2:3] end=3\n"}},
		{"is said to be committed and aborted", []string{twice("T1"), twice("U-2")}},
	} {
		kinds := map[string]bool{}
		for _, ops := range c.variants {
			h, err := histories.Parse("kinds", []byte("history 1\nconfig offsets=sparse\n"+ops))
			if err != nil {
				t.Fatal(err)
			}
			r := Check(t.Context(), h, Options{})
			if r.Verdict != Undecided || !strings.Contains(r.Reason, c.says) {
				t.Errorf("%s (%s), want unknown for %q\n%s", r.Verdict, r.Reason, c.says, ops)
			}
			kinds[r.ReasonKind] = true
			if strings.ContainsFunc(r.ReasonKind, unicode.IsDigit) || r.ReasonKind == "" {
				t.Errorf("%q is the kind of %q", r.ReasonKind, r.Reason)
			}
		}
		if len(kinds) != 1 {
			t.Errorf("%q is of several kinds: %v", c.says, kinds)
		}
	}
}

// twice is a transaction with two ends.
func twice(name string) string {
	return fmt.Sprintf("1-2 P1 begin tx=%[1]s => ok\n3-4 P1 send 1 tx=%[1]s => ok @0\n5-6 P1 commit tx=%[1]s => ok\n7-8 P1 abort tx=%[1]s => ok\n9-10 S1 scan => ok [0:1] end=2\n", name)
}
