package importers

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/isrcheck/isrcheck/histories"
)

var update = flag.Bool("update", false, "write the histories of the samples anew")

// samples are the recordings in testdata, and what made them.
var samples = map[string]string{
	"jepsen.edn": "jepsen", "maelstrom.edn": "maelstrom", "maelstrom.txt": "maelstrom", "s2.jsonl": "s2", "kv.txt": "porcupine-kv",
}

// TestSamples compares the histories of the samples with those that are kept,
// and demands that each source has one.
func TestSamples(t *testing.T) {
	sampled := map[string]bool{}
	for name, source := range samples {
		r, err := ReadFile("testdata/"+name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Source != source {
			t.Errorf("%s is taken for a recording of %q, want %q", name, r.Source, source)
		}
		sampled[source] = true
		kept, got := "testdata/"+name+".hist", r.AppendNotation(nil)
		if *update {
			if err := os.WriteFile(kept, got, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(kept); err != nil || !bytes.Equal(want, got) {
			t.Errorf("%s: %v; -update writes it anew. Got\n%s", kept, err, got)
		}
	}
	for _, s := range Sources {
		if !sampled[s.Name] || s.Says == "" {
			t.Errorf("%s has no sample, or does not say what it is", s.Name)
		}
	}
}

// TestEverythingIsTold demands that what a history leaves out is in its note as
// well as in the list.
func TestEverythingIsTold(t *testing.T) {
	r, err := ReadFile("testdata/jepsen.edn", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Untranslated) < 5 {
		t.Errorf("only %d things are told: %q", len(r.Untranslated), r.Untranslated)
	}
	for _, l := range r.Untranslated {
		if !strings.Contains(r.Header().Note, "not translated: "+l) {
			t.Errorf("the note lacks %q", l)
		}
	}
}

// TestPacked reads recordings that are packed.
func TestPacked(t *testing.T) {
	for name, source := range samples {
		plain := read(t, "testdata/"+name)
		var gz, zst bytes.Buffer
		g := gzip.NewWriter(&gz)
		g.Write(plain)
		g.Close()
		z, _ := zstd.NewWriter(&zst)
		z.Write(plain)
		z.Close()
		for packing, packed := range map[string][]byte{"gzip": gz.Bytes(), "zstd": zst.Bytes(), "nothing": plain, "a byte order mark": append([]byte("\xef\xbb\xbf"), plain...)} {
			r, err := Read(name, bytes.NewReader(packed), Options{})
			if err != nil || r.Source != source {
				t.Errorf("%s with %s: %v", name, packing, err)
			}
		}
		if r, err := Read(name, bytes.NewReader(zst.Bytes()[:zst.Len()/2]), Options{}); err == nil {
			t.Errorf("half of %s, packed, is read as %d operations", name, len(r.Ops()))
		}
	}
}

// TestHistoriesAreNoRecordings demands that no source takes a history for a
// recording of its own.
func TestHistoriesAreNoRecordings(t *testing.T) {
	files, _ := filepath.Glob("../corpus/*/*.hist")
	if len(files) < 100 {
		t.Fatalf("the corpus has %d files", len(files))
	}
	for _, file := range files {
		r, err := ReadFile(file, Options{})
		if err != nil || r.Source != "" || !MayBeHistory(file) {
			t.Fatalf("%s: %v", file, err)
		}
		again, err := Read("", bytes.NewReader(r.AppendEvents(nil)), Options{})
		if err != nil || again.Source != "" {
			t.Fatalf("%s as events: %v", file, err)
		}
	}
}

// TestConfig demands that settings which are given go before the source's own.
func TestConfig(t *testing.T) {
	given := histories.Config{{Key: "acks", Value: "1"}, {Key: "reads", Value: "linearizable"}}
	r, err := ReadFile("testdata/maelstrom.edn", Options{Config: given})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"acks": "1", "reads": "linearizable", "system": "other"} {
		if got := r.Config().Get(key); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if _, err := ReadFile("testdata/maelstrom.edn", Options{Config: histories.Config{{Key: "nosuch", Value: "1"}}}); err == nil {
		t.Error("an unknown setting is accepted")
	}
}

// TestFailedSends demands that a send counts as refused only if it was for
// certain.
func TestFailedSends(t *testing.T) {
	committed := histories.Config{{Key: "isolation.level", Value: "read_committed"}}
	for _, test := range []struct {
		f, told, err string
		config       histories.Config
		want         histories.Outcome
	}{
		{"send", "5", ":invalid-topic", nil, histories.Fail},
		{"send", "5", ":not-leader-or-follower", nil, histories.Info},
		{"send", "5", `[:network "connection reset"]`, nil, histories.Info},
		{"send", "5", ":not-leader-or-follower", committed, histories.Info},
		{"send", "5", "nil", nil, histories.Fail},
		{"send", "5", ":not-enough-replicas", nil, histories.Fail},
		{"send", "5", `[:not-enough-replicas "1 of 2"]`, nil, histories.Fail},
		{"send", "5", `"NOT_ENOUGH_REPLICAS"`, nil, histories.Fail},
		{"send", "5", ":NotEnoughReplicasException", nil, histories.Fail},
		{"send", "5", "{:type :message-too-large}", nil, histories.Fail},
		{"send", "5", `[:temporarily-unavailable "not the leader"]`, nil, histories.Fail},
		{"send", "5", ":not-enough-replicas-after-append", nil, histories.Info},
		{"send", "5", "{:type :abort, :abort-ok? true, :body-error :timeout}", nil, histories.Info},
		{"send", "5", "{:type :abort, :abort-ok? true, :body-error :timeout}", committed, histories.Fail},
		{"send", "5", "{:type :abort, :definite? true, :body-error :timeout}", committed, histories.Fail},
		{"send", "5", "{:type :abort, :abort-ok? true, :definite? false, :body-error :timeout}", committed, histories.Info},
		{"send", "5", "{:type :abort, :body-error :timeout}", committed, histories.Info},
		{"send", "[7 5]", ":timeout", committed, histories.Info},
		{"txn", "5", ":timeout", committed, histories.Info},
		{"send", "[7 5]", "nil", committed, histories.Fail},
		{"send", "[7 5]", ":abort", nil, histories.Info},
		{"send", "[7 5]", ":abort", committed, histories.Fail},
		{"txn", "5", ":abort", nil, histories.Info},
		{"txn", "5", ":abort", committed, histories.Fail},
	} {
		text := fmt.Sprintf("{:process 0, :type :invoke, :f :%s, :value [[:send 1 5]]}\n{:process 0, :type :fail, :f :%s, :value [[:send 1 %s]], :error %s}\n", test.f, test.f, test.told, test.err)
		r, err := Read("x", strings.NewReader(text), Options{Config: test.config})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range r.Ops() {
			if o.Kind == histories.Send && o.Outcome != test.want {
				t.Errorf("%v of\n%s\nwith %v, want %v", o.Outcome, text, test.config, test.want)
			}
		}
	}
}

// TestTransactionEnds demands that a transaction counts as aborted only if it was
// for certain.
func TestTransactionEnds(t *testing.T) {
	for _, test := range []struct{ typ, more, want string }{
		{"ok", "", "commit tx=T1 => ok"},
		{"info", ", :error :timeout", "commit tx=T1 => info code=timeout"},
		{"fail", ", :error :timeout", "commit tx=T1 => info code=timeout"},
		{"fail", ", :error {:type :abort, :definite? false}", "commit tx=T1 => info code=abort"},
		{"fail", ", :error :abort", "abort tx=T1 => ok"},
		{"fail", ", :error {:type :abort, :abort-ok? true, :body-error :timeout}", "abort tx=T1 => ok"},
		{"fail", "", "abort tx=T1 => ok"},
	} {
		text := fmt.Sprintf("{:process 0, :type :invoke, :f :txn, :value [[:send 1 5]]}\n{:process 0, :type :%s, :f :txn, :value [[:send 1 5]]%s}\n", test.typ, test.more)
		r, err := Read("x", strings.NewReader(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if last := r.Ops()[len(r.Ops())-1]; !strings.HasSuffix(strings.Replace(last.String(), " on=t/1", "", 1), "T0 "+test.want) {
			t.Errorf("%s%s ends as %v, want %s", test.typ, test.more, &last, test.want)
		}
	}
}

// TestToldOffsets reads what sends were told.
func TestToldOffsets(t *testing.T) {
	for _, test := range []struct{ asked, told, want string }{
		{"5", "[3 5]", "5 on=t/1 => ok @3"},
		{"5", "5", "5 on=t/1 => ok @-"},
		{"5", "[nil 5]", "5 on=t/1 => ok @-"},
		{"5", "[-1 5]", "5 on=t/1 => ok @-"},
		{"[-1 5]", "[-1 5]", `"[-1 5]" on=t/1 => ok @-`},
		{"[1.5 1]", "[7 [1.5 1]]", `"[1.5 1]" on=t/1 => ok @7`},
	} {
		text := fmt.Sprintf("0\t:invoke\t:send\t[[:send 1 %s]]\n0\t:ok\t:send\t[[:send 1 %s]]\n", test.asked, test.told)
		r, err := Read("x", strings.NewReader(text), Options{})
		if err != nil || !strings.Contains(string(r.AppendNotation(nil)), "send "+test.want+"\n") {
			t.Errorf("%s of %s: %v; want %s in\n%s", test.told, test.asked, err, test.want, r.AppendNotation(nil))
		}
	}
}

// TestUnclearErrors demands that an error which is not known to be definite leaves
// the outcome unknown, and is listed.
func TestUnclearErrors(t *testing.T) {
	for _, err := range []string{
		":network-exception", ":disconnected", ":request-timed-out", ":TimeoutException", "[:timeout-exception]", ":socket-timeout",
		":connection-reset", `"Connection reset by peer"`, `"timed out"`, `[:exception "java.io.IOException: broken pipe"]`,
		":unknown-server-error", "{:type :abort, :abort-ok? false, :body-error :timeout}", ":bogus", "7", "[]", "{}", `""`, "", "\n  at java.net.Socket", "Connection reset",
		":net-timeout", ":out-of-order-sequence-number", ":not-controller", ":unknown-topic-or-partition", ":kafka-storage-error",
	} {
		text := "0\t:invoke\t:send\t[[:send 1 5]]\n0\t:fail\t:send\t[[:send 1 5]]\t" + err + "\n"
		r, failed := Read("x", strings.NewReader(text), Options{})
		if failed != nil {
			t.Fatal(failed)
		}
		if got := r.Ops()[0].Outcome; got != histories.Info || len(r.Untranslated) != 1 {
			t.Errorf("%s: %v, and listed is %q", err, got, r.Untranslated)
		}
	}
}

// TestChain compares with the hashes that the collector and the checker of
// s2-verification agree on.
func TestChain(t *testing.T) {
	var hash uint64
	for i, want := range []uint64{0x4d2b003ee417c3a5, 0x132e5d5dd7936edd, 0x732ee99abc5002ff} {
		body := []string{"foo", "bar", "baz"}[i]
		if hash = chain(hash, xxh3.HashString(body)); hash != want {
			t.Errorf("up to %s: %x, want %x", body, hash, want)
		}
	}
}

func read(t testing.TB, file string) []byte {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestConditions has appends of S2 acknowledged whose condition held, did not, or
// may have held.
func TestConditions(t *testing.T) {
	const (
		set  = `"set_fencing_token":"a"`
		met  = "C2 send \"0000000000000002\" on=stream/0 => ok @1"
		not  = "C2 send \"0000000000000002\" on=stream/0 => fail code=condition-not-met:"
		done = `{"AppendSuccess":{"tail":1}}`
	)
	for _, test := range []struct{ first, ended, second, want string }{
		{set, done, `"fencing_token":"a"`, met},
		{set, done, `"fencing_token":"b"`, not + "fencing_token"},
		{`"match_seq_num":0`, done, `"fencing_token":"b"`, met},
		{set, `"AppendIndefiniteFailure"`, `"fencing_token":"b"`, met},
		{`"match_seq_num":0`, done, `"match_seq_num":1`, met},
		{`"match_seq_num":0`, done, `"match_seq_num":0`, not + "match_seq_num"},
	} {
		text := fmt.Sprintf(`{"event":{"Start":{"Append":{"num_records":1,"record_hashes":[1],%s}}},"client_id":1,"op_id":1}
{"event":{"Finish":%s},"client_id":1,"op_id":1}
{"event":{"Start":{"Append":{"num_records":1,"record_hashes":[2],%s}}},"client_id":2,"op_id":2}
{"event":{"Finish":{"AppendSuccess":{"tail":2}}},"client_id":2,"op_id":2}
`, test.first, test.ended, test.second)
		r, err := Read("x", strings.NewReader(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Ops()[len(r.Ops())-1]; !strings.HasSuffix(got.String(), test.want) && !strings.HasSuffix(r.Ops()[1].String(), test.want) {
			t.Errorf("%s\n%s", text, r.AppendNotation(nil))
		}
	}
}
