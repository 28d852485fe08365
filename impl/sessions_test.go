package impl

import "testing"

// TestFetchSessions tells a leader of fetches in and out of order, and leaves
// epochs unsaid.
func TestFetchSessions(t *testing.T) {
	for _, tt := range []struct {
		name      string
		forget    bool // the leader's process is a new one before the last fetch
		fetches   []message
		err       errorCode
		wantEpoch int64
	}{
		{"first", false, []message{{id: 5, leaderEpoch: 3}}, noError, 3},
		{"unsaid", false, []message{{id: 5, leaderEpoch: 3}, {id: 8, session: 5, leaderEpoch: none}}, noError, 3},
		{"unsaid twice", false, []message{{id: 5, leaderEpoch: 3}, {id: 8, session: 5, leaderEpoch: none}, {id: 9, session: 8, leaderEpoch: none}}, noError, 3},
		{"said anew", false, []message{{id: 5, leaderEpoch: 3}, {id: 8, session: 5, leaderEpoch: 4}, {id: 9, session: 8, leaderEpoch: none}}, noError, 4},
		{"twice", false, []message{{id: 5, leaderEpoch: 3}, {id: 8, session: 5, leaderEpoch: none}, {id: 8, session: 5, leaderEpoch: none}}, invalidFetchSessionEpoch, none},
		{"of an earlier session", false, []message{{id: 5, leaderEpoch: 3}, {id: 9, leaderEpoch: 3}, {id: 8, session: 5, leaderEpoch: none}}, invalidFetchSessionEpoch, none},
		{"forgotten", true, []message{{id: 5, leaderEpoch: 3}, {id: 8, session: 5, leaderEpoch: none}}, fetchSessionIDNotFound, none},
	} {
		b := &broker{env: &env{}}
		r := &replica{sessions: make([]fetchSession, 3)}
		var err errorCode
		var m message
		for i := range tt.fetches {
			m = tt.fetches[i]
			m.from = 2
			if tt.forget && i == len(tt.fetches)-1 {
				r.forget()
			}
			err = b.recall(r, &m)
		}
		if err != tt.err || m.leaderEpoch != tt.wantEpoch {
			t.Errorf("%s: %v, epoch %d, want %v, epoch %d", tt.name, err, m.leaderEpoch, tt.err, tt.wantEpoch)
		}
	}
}

// TestFetchSessionsChangeNothing runs a schedule with sessions and without: as
// long as no fetch is lost they only leave unsaid what the other side knows.
func TestFetchSessionsChangeNothing(t *testing.T) {
	const calm = `
		10 P1 send 1
		1000 P1 send 2,3 acks=1
		3000 nemesis move-leader to=2
		3500 P1 send 4
		4000 nemesis move-leader to=1
		5000 nemesis fence broker=3 for=3000
		6000 nemesis shutdown broker=2 for=500
		9000 P1 send 5
		20000 C1 poll`
	const sessions = "set max.incremental.fetch.session.cache.slots=1000\n"
	plain, with := run(t, parseSchedule(t, calm)), run(t, parseSchedule(t, sessions+calm))
	if text(plain) != text(with) {
		t.Errorf("%s\nwith sessions\n%s", text(plain), text(with))
	}
}
