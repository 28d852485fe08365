package gen

import (
	"strconv"

	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// A Choice is a setting with the values it may take, each as likely as the others.
type Choice struct {
	Key    string
	Values []string
}

// Scripted draws a schedule of one partition with those settings, everything else
// as in an [Example] of that seed, and the steps that write draws: the faults are
// the ones it names, and no others. No client deletes records, and all sends want
// the acknowledgement that the settings say.
func Scripted(choices []Choice, write func(*Script), seed uint64) schedule.Schedule {
	d := &drawing{choices: draw.NewStream(seed), leader: "1", pace: &hasty, sameAcks: true}
	for _, c := range append([]Choice{{"partitions", []string{"1"}}}, choices...) {
		d.opt.Settings = append(d.opt.Settings, schedule.Setting{Key: c.Key, Value: choose(d, c.Key, c.Values...)})
	}
	d.settings()
	d.victim = d.int(1, d.brokers, "victim")
	d.now = 20 // the cluster has elected its first leader by then
	write(&Script{d})
	d.inOrder()
	return schedule.Schedule{Settings: d.set, Steps: d.list}
}

// A Script draws steps one after the other.
type Script struct{ d *drawing }

// Int draws an integer from lo to hi.
func (s *Script) Int(lo, hi int) int { return s.d.int(lo, hi, "number") }

// OneIn reports true about once in n times.
func (s *Script) OneIn(n int) bool { return s.d.oneIn(n, "chance") }

// Pick draws one of the words.
func (s *Script) Pick(words ...string) string { return choose(s.d, "word", words...) }

// Lasts draws how long a fault goes on, in milliseconds.
func (s *Script) Lasts() int { return s.d.lasts() }

// Value is what a setting was drawn to be, "" if it was not drawn.
func (s *Script) Value(key string) string {
	for _, set := range s.d.set {
		if set.Key == key {
			return set.Value
		}
	}
	return ""
}

// Number is the same of a setting that is a number, and 0 of any other.
func (s *Script) Number(key string) int {
	n, _ := strconv.Atoi(s.Value(key))
	return n
}

// Wait lets from lo to hi milliseconds pass.
func (s *Script) Wait(lo, hi int) { s.d.now += int64(s.Int(lo, hi)) }

// Clients adds from lo to hi operations of clients, the usual gaps between them.
func (s *Script) Clients(lo, hi int) {
	for range s.Int(lo, hi) {
		s.d.client()
		s.d.now += int64(s.d.gap())
	}
}

// Send adds a send of one of the producers.
func (s *Script) Send() { s.d.send("P" + strconv.Itoa(s.Int(1, 3))) }

// Polls lets every consumer poll, one of them twice.
func (s *Script) Polls() {
	for _, consumer := range []string{"C1", "C2", "C1"} {
		s.d.add(consumer, "poll", nil, s.d.where()...)
	}
}

// Poll lets one consumer poll, which asks that broker who leads.
func (s *Script) Poll(consumer, via string) {
	s.d.add(consumer, "poll", nil, schedule.Arg{Key: "via", Value: via})
}

// Fault adds a fault with its arguments, as key and value in turn.
func (s *Script) Fault(verb string, pairs ...string) { s.d.nemesis(verb, pairs...) }
