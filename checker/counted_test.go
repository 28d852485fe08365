package checker

import (
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", -100: "-100", 999: "999", 1000: "1,000", -1000: "-1,000", 1234567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	if one, more := Counted(1, "send"), Counted(2000, "send"); one != "1 send" || more != "2,000 sends" {
		t.Errorf("got %q and %q", one, more)
	}
}

// TestCopies says of each copy of a record where it is, or that there are more.
func TestCopies(t *testing.T) {
	for scan, want := range map[string]string{
		"[0:1 1:1] end=2":         "is in the log twice, at offsets 0 and 1",
		"[0:1 1:1 2:1 3:1] end=4": "is in the log 4 times, at offsets 0 and 3 and 2 more between them",
	} {
		h, err := histories.Parse("copies.hist", []byte("history 1\nconfig acks=all enable.idempotence=true\n1-2 P1 send 1 => ok @0\n3-4 C1 scan => ok "+scan+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if says := Check(t.Context(), h, Options{}).Err().Error(); !strings.HasSuffix(says, want) {
			t.Errorf("%s: %s, want %s", scan, says, want)
		}
	}
}
