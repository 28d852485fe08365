package checker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// sends are so many of one producer, with one result.
func sends(n int, result string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%d-%d P1 send %d => %s\n", 2*i+1, 2*i+2, i, result)
	}
	return text.String()
}

// TestNothingWorked judges histories of which nothing came: by every engine, while
// they are read, and with transactions, they are unknown, and say why.
func TestNothingWorked(t *testing.T) {
	const scan = "99-99 S1 scan => ok [] end=0\n"
	for _, c := range []struct {
		name, ops string
		want      Verdict
		says      string
	}{
		{"all refused", sends(8, "fail code=NOT_ENOUGH_REPLICAS") + "50-51 P2 send 50 => fail code=TOPIC_AUTHORIZATION_FAILED\n52-53 P2 send 52 => fail\n" + scan,
			Undecided, "none of 10 sends was acknowledged, and no record was read; 8 ended with NOT_ENOUGH_REPLICAS"},
		{"two codes, as often", sends(5, "fail code=REQUEST_TIMED_OUT") + strings.ReplaceAll(sends(5, "fail code=NOT_ENOUGH_REPLICAS"), "P1 send ", "P2 send 1") + scan,
			Undecided, "5 ended with NOT_ENOUGH_REPLICAS"},
		{"all unanswered", sends(10, "info code=CLIENT_TIMEOUT") + scan, Undecided, "10 ended with CLIENT_TIMEOUT"},
		{"no scan either", sends(10, "fail") + "60-61 C1 fetch from=0 => ok [] hw=0\n", Undecided, "none of 10 sends was acknowledged"},
		{"in transactions", "0-0 P1 begin tx=T => ok\n" + strings.ReplaceAll(sends(10, "fail code=INVALID_TXN_STATE"), " =>", " tx=T =>") + "60-61 P1 abort tx=T => ok\n" + scan,
			Undecided, "10 ended with INVALID_TXN_STATE"},
		{"few refused", sends(9, "fail code=NOT_ENOUGH_REPLICAS") + scan, Conforms, ""},
		{"few unanswered", sends(9, "info") + scan, Conforms, ""},
		{"one that was aborted", "0-0 P1 begin tx=T => ok\n1-2 P1 send 1 tx=T => ok @0\n3-4 P1 abort tx=T => ok\n99-99 S1 scan => ok [] end=2\n", Conforms, ""},
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
