package checker

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// TestNothingWorked judges histories of which nothing came: by every engine, while
// they are read, and with transactions, they are unknown, and say why.
func TestNothingWorked(t *testing.T) {
	const scan = "9-10 S1 scan => ok [] end=0\n"
	for _, c := range []struct {
		name, ops string
		want      Verdict
		says      string
	}{
		{"all refused", "1-2 P1 send 1 => fail code=NOT_ENOUGH_REPLICAS\n3-4 P1 send 2 => fail code=TOPIC_AUTHORIZATION_FAILED\n" +
			"5-6 P2 send 3 => fail code=TOPIC_AUTHORIZATION_FAILED\n" + scan, Undecided, "none of 3 sends was acknowledged, and no record was read; 2 ended with TOPIC_AUTHORIZATION_FAILED"},
		{"all unanswered", "1-2 P1 send 1 => info code=CLIENT_TIMEOUT\n" + scan, Undecided, "1 ended with CLIENT_TIMEOUT"},
		{"no scan either", "1-2 P1 send 1 => fail\n3-4 C1 fetch from=0 => ok [] hw=0\n", Undecided, "none of 1 send was acknowledged"},
		{"in transactions", "0-0 P1 begin tx=T => ok\n1-2 P1 send 1 tx=T => fail code=INVALID_TXN_STATE\n3-4 P1 abort tx=T => ok\n" + scan,
			Undecided, "1 ended with INVALID_TXN_STATE"},
		{"one that was aborted", "0-0 P1 begin tx=T => ok\n1-2 P1 send 1 tx=T => ok @0\n3-4 P1 abort tx=T => ok\n9-10 S1 scan => ok [] end=2\n", Conforms, ""},
		{"one was acknowledged by the leader", "1-2 P1 send 1 acks=1 => ok @0\n3-4 P1 send 2 => fail code=NOT_ENOUGH_REPLICAS\n" + scan, Conforms, ""},
		{"one is there", "1-2 P1 send 1 => info\n9-10 S1 scan => ok [0:1] end=1\n", Conforms, ""},
		{"one was refused and is there", "1-2 P1 send 1 => fail code=NOT_ENOUGH_REPLICAS\n9-10 S1 scan => ok [0:1] end=1\n", Violates, ""},
	} {
		path := filepath.Join(t.TempDir(), "run.hist")
		if err := os.WriteFile(path, []byte("history 1\n"+c.ops), 0o666); err != nil {
			t.Fatal(err)
		}
		h, err := histories.ReadFile(path)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := map[string]*Result{}
		if got["streamed"], _, err = CheckFile(t.Context(), path, Options{}); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, engine := range []Engine{Auto, Porcupine, Linear, Both} {
			got["engine "+string(engine)] = Check(context.Background(), h, Options{Engine: engine})
		}
		for how, r := range got {
			if r.Verdict != c.want || !strings.Contains(r.Reason, c.says) || c.says != "" && !strings.HasPrefix(r.Reason, "nothing was at stake: ") {
				t.Errorf("%s, %s: %v (%s), want %v", c.name, how, r.Verdict, r.Reason, c.want)
			}
		}
	}
}
