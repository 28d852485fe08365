package logtest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/histories/schedule"
)

// A fixedCase is a schedule that every log with the ability is given.
type fixedCase struct {
	name  string
	needs Ability // "" for what every log can do
	says  string
	write func(*script)
}

// fixedCases are those beside the cases that each fault has.
var fixedCases = []fixedCase{
	{"append and read", "", "what was appended is read, in its order", func(s *script) {
		for range 3 {
			s.send("P1", 1).poll("C1").then()
		}
	}},
	{"batches", "", "a batch stays in one piece and in its order", func(s *script) {
		s.send("P1", 3).then().send("P2", 1).then().send("P1", 2).then().poll("C1").then().send("P2", 3).then().poll("C1")
	}},
	{"producers at once", "", "appends at the same time all get a place of their own", func(s *script) {
		for range 4 {
			s.send("P1", 1).send("P2", 2).send("P3", 1).poll("C1").poll("C2").then()
		}
	}},
	{"read from every offset", "", "a read begins where it was asked to", func(s *script) {
		for range 4 {
			s.send("P1", 1).then()
		}
		for from := range 5 {
			s.client("F1", "fetch", "", "from", from).then()
		}
	}},
	{"end of the log", EndOffset, "the end that is told covers what was acknowledged, and stays", func(s *script) {
		for range 4 {
			s.send("P1", 1).then().client("L1", "list", "latest").client("L2", "list", "latest").then()
		}
	}},
	{"partitions apart", Partitions, "what goes into one partition is in no other", func(s *script) {
		for range 3 {
			for s.partition = range s.partitions {
				s.send("P1", 1).send("P2", 1).poll("C1").then()
			}
		}
	}},
}

// casesOf returns the cases of a log in the order in which they are run, also
// those that it cannot do.
func casesOf(m means) []fixedCase {
	cases := fixedCases[:len(fixedCases):len(fixedCases)]
	for _, f := range faults {
		name := string(f.Ability)
		cases = append(cases,
			fixedCase{name + " between appends", f.Ability, f.says + ", while nobody asks for anything", func(s *script) {
				for node := 1; node <= m.nodes; node++ {
					s.send("P1", 2).then().poll("C1").then().fault(f, node, 30).wait(60).send("P2", 1).then().poll("C1").then()
				}
			}},
			fixedCase{name + " during appends", f.Ability, f.says + ", while clients go on", func(s *script) {
				for node := 1; node <= m.nodes; node++ {
					s.send("P1", 1).then().send("P2", 2).fault(f, node, 50).poll("C1").wait(10).
						send("P3", 1).wait(20).send("P1", 1).poll("C2").wait(40).send("P2", 1).poll("C1").then()
				}
			}})
	}
	return append(cases, fixedCase{"crash of all nodes", Crash, "all processes die at once and come back", func(s *script) {
		s.send("P1", 2).then().send("P2", 1).poll("C1").then()
		for node := 1; node <= m.nodes; node++ {
			s.fault(faults[0], node, 40)
		}
		s.wait(80).poll("C1").then().send("P1", 1).then().poll("C1")
	}})
}

// schedule writes the case's schedule.
func (c fixedCase) schedule(m means) schedule.Schedule {
	s := &script{partitions: m.partitions, now: 20} // a simulated cluster has elected its first leader by then
	c.write(s)
	return schedule.Schedule{Steps: s.steps}
}

// A script is a schedule while it is written, and the numbers of its records.
type script struct {
	steps      []schedule.Step
	now, value int64
	partitions int
	partition  int // that clients ask
}

// then lets what was asked for come to an end.
func (s *script) then() *script { return s.wait(5) }

func (s *script) wait(ms int64) *script {
	s.now += ms
	return s
}

// send appends that many values in one batch.
func (s *script) send(client string, n int) *script {
	var batch []string
	for range n {
		s.value++
		batch = append(batch, strconv.FormatInt(s.value, 10))
	}
	return s.client(client, "send", strings.Join(batch, ","))
}

func (s *script) poll(client string) *script { return s.client(client, "poll", "") }

// client asks for something, with a positional word if it is not empty and
// arguments as key and value in turn.
func (s *script) client(name, verb, word string, pairs ...any) *script {
	step := schedule.Step{At: s.now, Actor: name, Verb: verb}
	if word != "" {
		step.Words = []string{word}
	}
	for i := 0; i < len(pairs); i += 2 {
		step.Args = append(step.Args, schedule.Arg{Key: fmt.Sprint(pairs[i]), Value: fmt.Sprint(pairs[i+1])})
	}
	if s.partition > 0 {
		step.Args = append(step.Args, schedule.Arg{Key: "partition", Value: strconv.Itoa(s.partition)})
	}
	s.steps = append(s.steps, step)
	return s
}

func (s *script) fault(f fault, node int, lasts int64) *script {
	s.steps = append(s.steps, f.step(s.now, node, lasts))
	return s
}
