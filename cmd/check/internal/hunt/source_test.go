package hunt

import (
	"errors"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories/schedule"
)

// TestErrorsOfSchedules gives words of a megabyte wherever a schedule has one:
// the error is a place, and fits on a screen.
func TestErrorsOfSchedules(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, text := range []string{
		"set brokers=" + long, "set acks=" + long, "set " + long + "=1", "bug " + long,
		"5 P1 " + long, "5 nemesis " + long, "5 nemesis crash broker=" + long + " for=1",
		"5 nemesis crash broker=1 for=1 " + long + "=1", "5 nemesis crash " + long,
		"5 nemesis drop kind=" + long, "5 nemesis reassign to=1," + long, "5 nemesis timeout client",
		"5 P1 send 1," + long, "5 P1 send 1 acks=" + long, "5 P1 poll " + long + "=1", "5 P1 list " + long,
		"5 P1 seek " + long, "5 " + long + " fly", "5 client poll", long, "5 " + long,
	} {
		_, err := ReadSchedule("x", []byte("\n"+text+"\n"))
		var at *schedule.Error
		if !errors.As(err, &at) || at.Line != 2 || at.Column < 1 || len(err.Error()) > 3000 {
			t.Errorf("%.40q: error %.200v, want a short one in line 2", text, err)
		}
	}
}
