package impl_test

import (
	"fmt"

	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

// The leader dies right after it acknowledged a record. The record survives:
// acks=all had waited for the whole ISR.
func ExampleRun() {
	s, err := schedule.Parse("leader-dies", []byte(`
10 P1 send 1
20 nemesis crash broker=1 for=15000
100 P1 send 2
`))
	if err != nil {
		panic(err)
	}
	r, err := impl.Run(s, impl.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s", r.History.AppendNotation(nil))
	fmt.Println(r.Stats.Elections, "election,", len(r.Breaches), "breaches")
	// Output:
	// history 1
	// config acks=all enable.idempotence=true unclean.leader.election.enable=false replication.factor=3 min.insync.replicas=1 kip-207=true offsets=dense reads=committed system=kafka
	// 10-16 P1 send 1 => ok @0
	// 20 nemesis crash broker=1 for=15000
	// 100-9198 P1 send 2 => ok @1
	// 15020 nemesis broker 1 is back
	// 15027-15031 S1 scan => ok [0:1 1:2] end=2
	// 1 election, 0 breaches
}
