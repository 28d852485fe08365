package schedule

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// has accepts schedules that hold a step of that verb with at least the
// integer value under the key; "" asks for none.
func has(verb, key string, value int64) func(Schedule) bool {
	return func(s Schedule) bool {
		return slices.ContainsFunc(s.Steps, func(step Step) bool {
			return step.Verb == verb && (key == "" || argument(step, key) >= value)
		})
	}
}

func argument(s Step, key string) int64 {
	for _, arg := range s.Args {
		if arg.Key == key {
			n, _ := strconv.ParseInt(arg.Value, 10, 64)
			return n
		}
	}
	return -1
}

func all(conditions ...func(Schedule) bool) func(Schedule) bool {
	return func(s Schedule) bool {
		return !slices.ContainsFunc(conditions, func(c func(Schedule) bool) bool { return !c(s) })
	}
}

const busy = `set brokers=5
set min.insync.replicas=2
bug one
bug two
12 P1 send 1,2,3 acks=all
100 nemesis crash broker=4 for=1000
150 P1 send 4,5
220 nemesis pause broker=3 for=70
300 C1 poll
fingerprint 9c1f02ab55d01e77
`

func TestMinimize(t *testing.T) {
	settings := func(s Schedule) bool { return slices.Contains(s.Settings, Setting{"brokers", "5"}) }
	bugs := func(s Schedule) bool { return slices.Contains(s.Bugs, "two") }
	apart := func(s Schedule) bool {
		last := len(s.Steps) - 1
		return last > 0 && s.Steps[last].At-s.Steps[0].At >= 33
	}
	batch := func(s Schedule) bool {
		return slices.ContainsFunc(s.Steps, func(step Step) bool { return slices.Contains(step.Words, "2,3") })
	}
	tests := []struct {
		what string
		same func(Schedule) bool
		want string
	}{
		{"everything goes", func(Schedule) bool { return true }, ""},
		{"nothing goes", func(s Schedule) bool { return s.String() == busy }, busy},
		{"one step stays", has("pause", "", 0), "0 nemesis pause\n"},
		{"the smallest number above a bound", has("crash", "for", 137), "0 nemesis crash for=137\n"},
		{"zero", has("crash", "broker", 0), "0 nemesis crash broker=0\n"},
		{"one", has("crash", "broker", 1), "0 nemesis crash broker=1\n"},
		{"two steps far apart", all(has("crash", "", 0), has("pause", "", 0)), "0 nemesis crash\n0 nemesis pause\n"},
		{"a gap", all(has("crash", "", 0), has("poll", "", 0), apart), "0 nemesis crash\n33 C1 poll\n"},
		{"a part of a batch", batch, "0 P1 send 2,3\n"},
		{"a setting", settings, "set brokers=5\n"},
		{"a bug", bugs, "bug two\n"},
	}
	for _, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			s := parse(t, busy)
			got, _ := Minimize(s, MinimizeOptions{}, test.same)
			if got.String() != test.want {
				t.Errorf("Minimize gives\n%swant\n%s", got, test.want)
			}
			if s.String() != busy {
				t.Errorf("Minimize changed what it was given to\n%s", s)
			}
		})
	}
}

func TestMinimizeKeepsToItsBudget(t *testing.T) {
	s := parse(t, busy)
	_, full := Minimize(s, MinimizeOptions{}, has("crash", "for", 137))
	for budget := 1; budget <= full; budget++ {
		runs := 0
		same := func(s Schedule) bool {
			runs++
			return has("crash", "for", 137)(s)
		}
		got, reported := Minimize(s, MinimizeOptions{Budget: budget}, same)
		if runs != budget || reported != runs {
			t.Errorf("with a budget of %d: %d runs, %d reported", budget, runs, reported)
		}
		if !has("crash", "for", 137)(got) {
			t.Errorf("with a budget of %d: the result is not accepted\n%s", budget, got)
		}
	}
}

// TestMinimizeIsMinimal judges schedules by a drawn set of demands, some of
// which can be met in several ways.
func TestMinimizeIsMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Schedule{Settings: []Setting{{"a", "1"}, {"b", "2"}}}
		verbs := rapid.SliceOfN(rapid.SampledFrom([]string{"u", "v", "w", "x"}), 1, 20).Draw(t, "verbs")
		for i, verb := range verbs {
			n := rapid.Int64Range(0, 300).Draw(t, "n")
			s.Steps = append(s.Steps, Step{At: int64(10 * i), Actor: "A", Verb: verb, Args: []Arg{{"n", strconv.FormatInt(n, 10)}}})
		}
		var demands []func(Schedule) bool
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(verbs)-1), 1, 4).Draw(t, "demands") {
			demands = append(demands, has(verbs[i], "n", argument(s.Steps[i], "n")/2))
		}
		parity := rapid.IntRange(1, 2).Draw(t, "parity") // 2 makes the judge non-monotonic
		odd := func(c Schedule) bool { return (len(c.Steps)-len(verbs))%parity == 0 }
		same := all(append(demands, odd)...)

		got, runs := Minimize(s, MinimizeOptions{}, same)
		if !same(got) {
			t.Fatalf("the result is not accepted\n%s", got)
		}
		for i := range got.Steps {
			less := got
			less.Steps = without(got.Steps, i, i+1)
			if same(less) {
				t.Fatalf("step %d can go\n%s", i+1, got)
			}
		}
		again, runsAgain := Minimize(s, MinimizeOptions{}, same)
		if !again.Equal(got) || runsAgain != runs {
			t.Fatalf("a second time gives after %d runs\n%safter %d runs at first\n%s", runsAgain, again, runs, got)
		}
		fixed, _ := Minimize(got, MinimizeOptions{}, same)
		if !fixed.Equal(got) {
			t.Fatalf("minimizing again changes\n%sto\n%s", got, fixed)
		}
	})
}

func TestMinimizeResultHasText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := schedules.Draw(t, "schedule")
		want := rapid.IntRange(0, len(s.Steps)).Draw(t, "steps")
		got, _ := Minimize(s, MinimizeOptions{Budget: 200}, func(c Schedule) bool {
			if _, err := c.AppendText(nil); err != nil {
				t.Fatalf("a candidate has no text: %v", err)
			}
			return len(c.Steps) >= want
		})
		if len(got.Steps) != want {
			t.Fatalf("%d steps are left, want %d", len(got.Steps), want)
		}
	})
}
