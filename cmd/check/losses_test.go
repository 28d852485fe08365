package main

import (
	"testing"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// TestLosses says of each producer where its lost records are, at once where they are
// in many places.
func TestLosses(t *testing.T) {
	loss := func(producer, part string, of int, first, last int64) checker.Loss {
		return checker.Loss{Partition: "t/0", Producer: producer, Part: part, Lost: int(last - first + 1), Of: of, First: histories.Int(first), Last: histories.Int(last)}
	}
	every := []checker.Loss{loss("P1", "first", 9, 1, 1), loss("P1", "middle", 9, 3, 4), loss("P1", "middle", 9, 6, 6), loss("P1", "last", 9, 9, 9)}
	crowd := []checker.Loss(nil)
	for _, producer := range []string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8"} {
		crowd = append(crowd, loss(producer, "all", 1, 5, 5))
	}
	for _, c := range []struct {
		lost []checker.Loss
		want string
	}{
		{every[:1], "the first of P1's 9 records (1)"},
		{every[:2], "the first of P1's 9 records (1); 2 from the middle of P1's 9 records (3 to 4)"},
		{every[:3], "4 of P1's 9 records, in 3 places (1, 3 to 4, 6)"},
		{append(every, loss("P2", "last", 5, 21, 23)), "5 of P1's 9 records, in 4 places (1, 3 to 4, 6, ...); the last 3 of P2's 5 records (21 to 23)"},
		{crowd, "the only record of P1 (5); the only record of P2 (5); the only record of P3 (5); the only record of P4 (5); the only record of P5 (5); the only record of P6 (5); and 2 more like these"},
	} {
		if got := losses(&checker.Result{Lost: c.lost}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
