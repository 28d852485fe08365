package matrix

import (
	"strconv"

	"github.com/isrcheck/isrcheck/impl/gen"
)

// The faults of each row, with the operations of clients before, between and
// behind them. Broker 1 leads at first, and 2 after it. Where a condition takes
// more than that, the passage of the run is looked at afterwards.

func slowFollower(s *gen.Script) {
	for range s.Int(1, 3) {
		s.Clients(1, 6)
		f, lasts := follower(s), text(s.Lasts())
		switch s.Int(0, 4) {
		case 0:
			s.Fault("slow-disk", "broker", f, "by", text(s.Int(5, 60)), "for", lasts)
		case 1:
			s.Fault("delay", "kind", "fetch", "from", f, "by", text(s.Int(5, 100)), "for", lasts)
		case 2:
			s.Fault("delay", "kind", "fetch-response", "to", f, "by", text(s.Int(5, 100)), "for", lasts)
		default:
			starve(s, f)
		}
	}
	s.Clients(2, 10)
}

func leaderCrash(s *gen.Script) {
	s.Clients(1, 6)
	if s.OneIn(2) {
		leaveAlone(s)
	}
	strikeLeader(s, "crash")
	s.Clients(2, 10)
	if s.OneIn(3) {
		s.Fault("crash", "broker", "2", "for", text(s.Lasts()))
		s.Clients(1, 5)
	}
}

// strikeLeader takes the leader down on the brink of an acknowledgement.
func strikeLeader(s *gen.Script, verb string) {
	brink(s)
	s.Fault(verb, "broker", "1", "for", text(s.Lasts()))
	s.Polls()
	if s.OneIn(2) {
		probe(s, "2", true)
	}
}

func followerCrash(s *gen.Script) { strikeFollower(s, "crash") }

func followerLoses(s *gen.Script) { strikeFollower(s, s.Pick("power-loss", "wipe")) }

func strikeFollower(s *gen.Script, verb string) {
	for range s.Int(1, 2) {
		s.Clients(2, 8)
		s.Fault(verb, "broker", follower(s), "for", text(s.Lasts()))
	}
	s.Clients(2, 8)
}

func leaderPowerLoss(s *gen.Script) {
	s.Clients(2, 8)
	if s.OneIn(3) {
		starve(s, "3")
		s.Clients(1, 5)
	}
	strikeLeader(s, "power-loss")
	s.Clients(3, 10)
}

func soleLoses(s *gen.Script) {
	s.Clients(2, 8)
	leaveAlone(s)
	s.Fault(s.Pick("power-loss", "wipe"), "broker", "1", "for", text(s.Lasts()))
	s.Clients(3, 12)
}

func oneLosesOthersCrash(s *gen.Script) {
	s.Clients(2, 8)
	first := s.Int(1, 3)
	name := text(first)
	starve(s, name) // so that it cannot catch up
	down := s.Pick("3", text(s.Lasts()), text(s.Lasts()+s.Number("broker.session.timeout.ms")))
	if s.OneIn(3) {
		for i := range 2 { // its ISR may shrink to it before it is missed
			s.Fault("fence", "broker", text((first+i)%3+1), "for", text(s.Lasts()))
		}
		s.Wait(0, 3)
	}
	s.Fault(s.Pick("power-loss", "wipe"), "broker", name, "for", down)
	for i := range 2 {
		if s.OneIn(2) {
			s.Clients(0, 3)
		}
		s.Wait(0, 40)
		s.Fault("crash", "broker", text((first+i)%3+1), "for", text(s.Lasts()))
	}
	s.Clients(3, 8)
}

func allCrash(s *gen.Script) { crashAll(s, 0, 0) }

func allCrashOneLoses(s *gen.Script) { crashAll(s, 1, 1) }

func allCrashManyLose(s *gen.Script) {
	crashAll(s, min(s.Number("min.insync.replicas"), s.Number("default.replication.factor")), 3)
}

// crashAll takes all brokers down at one instant, from least to most of them
// with a loss. Before that the ISR may be small.
func crashAll(s *gen.Script, least, most int) {
	s.Clients(2, 8)
	if s.OneIn(2) {
		leaveAlone(s)
	}
	brink(s)
	losses, first := s.Int(least, most), s.Int(0, 2)
	for i := range 3 {
		verb := "crash"
		if i < losses {
			verb = s.Pick("power-loss", "wipe")
		}
		s.Fault(verb, "broker", text((first+i)%3+1), "for", text(s.Lasts()))
	}
	s.Polls()
	s.Clients(3, 10)
}

func leaderIsolated(s *gen.Script) {
	cutLeader(s, func(broker, lasts string) { s.Fault("isolate", "node", broker, "for", lasts) })
}

func leaderExiled(s *gen.Script) {
	cutLeader(s, func(broker, lasts string) {
		s.Fault("partition", "a", broker, "b", "controller", "for", lasts)
	})
}

// cutLeader strikes one leader, and sometimes the one that follows it.
func cutLeader(s *gen.Script, strike func(broker, lasts string)) {
	session := s.Number("broker.session.timeout.ms")
	s.Clients(2, 6)
	if s.OneIn(5) {
		leaveAlone(s)
	}
	brink(s)
	strike("1", text(s.Lasts()+s.Int(0, 1)*session))
	if s.OneIn(2) { // until it is missed
		s.Wait(session-s.Number("broker.heartbeat.interval.ms"), session)
		barrage(s)
	}
	s.Polls()
	s.Clients(3, 12)
	if s.OneIn(3) {
		s.Wait(100, 200)
		strike("2", text(s.Lasts()))
		s.Clients(2, 6)
	}
}

func followerIsolated(s *gen.Script) {
	for range s.Int(1, 2) {
		s.Clients(1, 6)
		s.Fault("isolate", "node", follower(s), "for", text(s.Lasts()))
	}
	s.Clients(2, 8)
}

func twoLeaders(s *gen.Script) {
	s.Clients(2, 6)
	if s.OneIn(5) {
		leaveAlone(s)
	}
	lasts := text(s.Lasts() + s.Number("broker.session.timeout.ms"))
	switch s.Int(0, 2) {
	case 0:
		s.Fault("isolate", "node", "1", "for", lasts)
	case 1:
		s.Fault("partition", "a", "1", "b", "controller", "for", lasts)
	default:
		s.Fault("hold-metadata", "broker", "1", "for", lasts)
		s.Fault("move-leader", "to", "2")
	}
	if s.OneIn(2) {
		barrage(s)
	}
	s.Polls()
	s.Clients(6, 16)
}

func shortPause(s *gen.Script) {
	quiet := min(s.Number("broker.session.timeout.ms"), s.Number("replica.lag.time.max.ms")) - s.Number("broker.heartbeat.interval.ms")
	for range s.Int(1, 2) {
		s.Clients(1, 6)
		s.Fault("pause", "broker", follower(s), "for", text(s.Int(1, max(1, quiet-1))))
		s.Wait(10, 60)
	}
	s.Clients(2, 8)
}

func longPause(s *gen.Script) {
	s.Clients(1, 6)
	longer := s.Number(s.Pick("broker.session.timeout.ms", "replica.lag.time.max.ms"))
	for f, last := 2, s.Int(2, 3); f <= last; f++ {
		s.Fault("pause", "broker", text(f), "for", text(longer+s.Lasts()))
	}
	s.Clients(3, 12)
}

func leaderPause(s *gen.Script) {
	s.Clients(1, 6)
	switch s.Int(0, 4) {
	case 0:
		leaveAlone(s)
	case 1:
		starve(s, "3")
		s.Clients(1, 5)
	}
	brink(s)
	s.Fault("pause", "broker", "1", "for", text(s.Number("broker.session.timeout.ms")+s.Lasts()))
	if s.OneIn(2) {
		probe(s, "2", true)
	}
	s.Polls()
	s.Clients(4, 14)
}

func twoCrash(s *gen.Script) {
	s.Clients(2, 6)
	if s.OneIn(2) {
		starve(s, s.Pick("2", "3"))
		s.Clients(1, 6)
	}
	brink(s)
	first := s.Int(0, 2)
	for i := range 2 {
		s.Fault("crash", "broker", text((first+i)%3+1), "for", text(s.Lasts()))
	}
	if s.OneIn(2) {
		probe(s, text((first+2)%3+1), true)
	}
	s.Polls()
	s.Clients(3, 10)
}

// disorder has leaders move as well, for there to be metadata that can be late,
// where such a move loses nothing by itself.
func disorder(s *gen.Script) {
	for range s.Int(1, 4) {
		s.Clients(1, 5)
		if s.Value("acks") == "all" && s.OneIn(2) {
			brink(s)
			s.Fault("move-leader", "to", text(s.Int(1, 3)))
			s.Polls()
		}
		kind := s.Pick("fetch", "fetch-response", "alter-partition", "alter-partition-response", "metadata")
		switch s.Int(0, 4) {
		case 0:
			s.Fault("duplicate", "kind", kind, "for", text(s.Lasts()))
		case 1:
			s.Fault("hold-metadata", "broker", text(s.Int(1, 3)), "for", text(s.Lasts()))
		default:
			s.Fault("delay", "kind", kind, s.Pick("from", "to"), text(s.Int(1, 3)), "by", text(s.Int(2, 100)), "for", text(s.Lasts()))
		}
	}
	s.Clients(2, 8)
}

func planned(s *gen.Script) {
	for range s.Int(1, 3) {
		s.Clients(1, 6)
		brink(s)
		switch s.Int(0, 4) {
		case 0, 1:
			s.Fault("shutdown", "broker", s.Pick("1", "1", "2", "3"), "for", text(s.Lasts()))
		case 2:
			s.Fault("elect-preferred")
		case 3:
			s.Fault("move-leader", "to", s.Pick("2", "2", "3", "1"))
		default:
			s.Fault("reassign", "to", s.Pick("2,3", "3,1", "2,3,1", "3", "2"))
		}
		probe(s, "2", false)
		s.Polls()
	}
	s.Clients(2, 8)
}

// brink has a write acknowledged about now, so that followers may not know yet
// that it is committed.
func brink(s *gen.Script) {
	s.Send()
	s.Wait(3, 12)
}

// probe has new consumers ask a broker one after the other, about when it learns
// that it leads: at once, or when the leader has been missed.
func probe(s *gen.Script, broker string, missed bool) {
	if missed {
		session, beat := s.Number("broker.session.timeout.ms"), s.Number("broker.heartbeat.interval.ms")
		s.Wait(session-beat, session)
	}
	for i := range s.Int(2, 6) {
		s.Poll("C"+text(3+i), broker)
		s.Wait(0, 4)
	}
}

// barrage sends every few milliseconds.
func barrage(s *gen.Script) {
	for range s.Int(4, 10) {
		s.Send()
		s.Wait(0, 4)
	}
}

// follower is the number of a broker that follows at first.
func follower(s *gen.Script) string {
	return text(s.Int(2, max(2, s.Number("default.replication.factor"))))
}

// starve keeps what the leader sends from a follower until it has left the ISR,
// and for a while longer.
func starve(s *gen.Script, broker string) {
	s.Fault("drop", "kind", "fetch-response", "to", broker, "for", text(2*s.Number("replica.lag.time.max.ms")+s.Lasts()))
}

// leaveAlone makes the ISR shrink, mostly to broker 1 alone: followers do not
// hear of what is written, or are out of service.
func leaveAlone(s *gen.Script) {
	lag := s.Number("replica.lag.time.max.ms")
	fenced := s.OneIn(2)
	last := 3
	if s.OneIn(4) {
		last = 2
	}
	for f := 2; f <= last; f++ {
		if fenced {
			s.Fault("fence", "broker", text(f), "for", text(50+s.Lasts()))
		} else {
			starve(s, text(f))
		}
	}
	s.Clients(1, 4)
	if !fenced {
		s.Wait(lag, 2*lag)
		s.Clients(0, 3)
	}
}

func text(n int) string { return strconv.Itoa(n) }
