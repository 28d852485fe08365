package matrix

import "github.com/isrcheck/isrcheck/impl/gen"

// A Fault is a row: what goes wrong, and what each configuration may then show.
type Fault struct {
	Name, Says string

	draw func(*gen.Script)
	is   func(*passage) bool // whether a run is one of this row: its conditions held when the faults struck

	published [columns]permission // by §5
	may       [columns]permission
}

// notApplicable is the permission where a fault cannot be.
const notApplicable permission = "n/a"

// Faults is the table of rows, those of §5 of the protocol reference in its
// order: first what §5 permits, then what the matrix does. Where that is more, it
// is by one of the corrections. Besides:
//
//   - A leader that asked for an ISR of its own, and lost records before the answer,
//     is the last replica standing, whatever the ISR was when it was struck.
//   - A partition of one replica has no second one that could be in sync, lead as
//     well, or crash later: those cells are empty, not clean.
var Faults = []Fault{
	{"no fault", "nothing goes wrong",
		func(s *gen.Script) { s.Clients(5, 20) }, (*passage).calm,
		[columns]permission{calm, calm, calm, calm, calm, calm, calm},
		[columns]permission{calm, calm, calm, calm, calm, calm, calm}},
	{"slow follower, ISR shrinks, grows", "a follower is slow, leaves the ISR and comes back",
		slowFollower, (*passage).follower,
		[columns]permission{"", "", "", "", "", "", ""},
		[columns]permission{"", "", "", "", "", "", notApplicable}},
	{"leader crash", "the leader's process crashes, the page cache is kept",
		leaderCrash, (*passage).leader,
		[columns]permission{"L", "SU", "SU", "SU", "SU", "L|DOR", "U"},
		[columns]permission{"LO", "SU", "SU", "SU", "SU", "1|LDOR", "U"}},
	{"follower crash", "a follower's process crashes and comes back, the page cache is kept",
		followerCrash, (*passage).follower,
		[columns]permission{"", "", "", "", "", "", notApplicable},
		[columns]permission{"", "", "", "", "", "", notApplicable}},
	{"leader power loss, others in ISR", "the leader loses what it had not flushed, others are in the ISR",
		leaderPowerLoss, (*passage).leaderAmongOthers,
		[columns]permission{"L", "SU", "SU", "SU", "SU", "L", "LDOR"},
		[columns]permission{"LO", "SU", "SU", "SU", "SU", "1", notApplicable}},
	{"leader loses disk, sole in ISR", "the leader loses unflushed records or its disk as the last replica standing",
		soleLoses, (*passage).sole,
		[columns]permission{"LDOR", "LDOR", "LDOR", "SU", "SU", "LDOR", "LDOR"},
		[columns]permission{"LO|DR", "|LDOR", "|LDOR", "SU", "SU", "1|LDOR", "1|LDOR"}},
	{"follower loses disk while in ISR", "a follower in the ISR loses unflushed records or its disk, and nothing else happens",
		followerLoses, (*passage).followerAmongAll,
		[columns]permission{"", "", "", "", "", "", notApplicable},
		[columns]permission{"", "", "", "", "", "", notApplicable}},
	{"1 loses disk, then others crash", "a broker loses records, and before it has caught up the others crash one after another",
		oneLosesOthersCrash, (*passage).neverCaughtUp,
		[columns]permission{"LU", "U|LD", "U|LD", "U", "U", "LDOR", ""},
		[columns]permission{"LOU|DR", "U|LDOR", "U|LDOR", "U|LDOR", "U|LDOR", "1|LDOR", notApplicable}},
	{"all crash at once", "all brokers crash together, the page caches are kept",
		allCrash, (*passage).together,
		[columns]permission{"L", "SU", "SU", "SU", "SU", "LDOR", "U"},
		[columns]permission{"LO", "SU", "SU", "SU", "SU", "1|LDOR", "U"}},
	{"all crash, 1 loses disk", "all brokers crash together, one loses unflushed records or its disk",
		allCrashOneLoses, (*passage).together,
		[columns]permission{"L|DOR", "|LDOR", "|LDOR", "SU", "SU", "LDOR", "LDOR"},
		[columns]permission{"LO|DR", "|LDOR", "|LDOR", "SU|LDOR", "SU|LDOR", "1|LDOR", "1|LDOR"}},
	{"all crash, min.insync lose disks", "all brokers crash together, min.insync.replicas of them or more lose records",
		allCrashManyLose, (*passage).together,
		[columns]permission{"LDOR", "LDOR", "LDOR", "U|LDOR", "U|LDOR", "LDOR", "LDOR"},
		[columns]permission{"LO|DR", "|LDOR", "|LDOR", "U|LDOR", "U|LDOR", "1|LDOR", "1|LDOR"}},
	{"leader cut off from all brokers", "the leader is isolated from the controller and its followers; clients reach it",
		leaderIsolated, (*passage).leader,
		[columns]permission{"LSP", "SPU", "SPU", "SPU", "SPU", "LSP", "S"},
		[columns]permission{"LOSP", "SPU", "SPU", "SPU", "SPU", "1SP|LDOR", "S"}},
	{"leader cut off from controller", "the leader is isolated from the controller only, followers still fetch",
		leaderExiled, (*passage).leader,
		[columns]permission{"LSP", "SPU", "SPU", "SPU", "SPU", "LSPU", ""},
		[columns]permission{"LOSP", "SPU", "SPU", "SPU", "SPU", "1|LDOR", ""}},
	{"follower cut off", "a follower is isolated from controller and leader",
		followerIsolated, (*passage).follower,
		[columns]permission{"U", "U", "U", "U", "U", "", notApplicable},
		[columns]permission{"", "U", "U", "U", "U", "", notApplicable}},
	{"clients see old and new leader", "a leader that was deposed does not know it, and clients ask both",
		twoLeaders, (*passage).twoLeaders,
		[columns]permission{"LSP", "SP", "SP", "SP", "SP", "LSP", ""},
		[columns]permission{"LOSP", "SP", "SP", "SP", "SP", "1SP|LDOR", notApplicable}},
	{"short pause of follower", "a follower stands still, for less than the session and less than replica.lag.time.max.ms",
		shortPause, (*passage).followerStaysInISR,
		[columns]permission{"", "", "", "", "", "", notApplicable},
		[columns]permission{"", "", "", "", "", "", notApplicable}},
	{"long pause of follower", "a follower stands still, for longer than the session or replica.lag.time.max.ms",
		longPause, (*passage).follower,
		[columns]permission{"", "", "U", "U", "U", "", notApplicable},
		[columns]permission{"", "", "U", "U", "U", "", notApplicable}},
	{"long pause of leader", "the leader stands still for longer than its session",
		leaderPause, (*passage).leader,
		[columns]permission{"LSP", "SPU", "SPU", "SPU", "SPU", "LSPU", "U"},
		[columns]permission{"LOSP", "SPU", "SPU", "SPU", "SPU", "1|LDOR", "U"}},
	{"2 of 3 crash at once", "two brokers crash together, the page caches are kept",
		twoCrash, (*passage).twoOfThree,
		[columns]permission{"L", "SU", "U", "U", "U", "|LDOR", notApplicable},
		[columns]permission{"LO", "SU", "U", "U", "U", "1|LDOR", notApplicable}},
	{"messages late, twice, reordered", "Fetch, AlterPartition and metadata are delayed, duplicated, reordered",
		disorder, (*passage).any,
		[columns]permission{"SP", "SP", "SP", "SP", "SP", "SP", "S"},
		[columns]permission{"SP", "SP", "SP", "SP", "SP", "SP", "S"}},
	{"shutdown, election, reassignment", "a controlled shutdown, a preferred election, a reassignment",
		planned, (*passage).any,
		[columns]permission{"L", "S", "S", "S", "S", "S", "U"},
		[columns]permission{"LO", "S", "S", "S", "S", "1S|LDOR", "1U"}},
}
