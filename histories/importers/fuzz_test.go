package importers

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// The fuzz targets demand that no recording makes an importer panic, that an
// error says where, and that what is read survives both printers.

func FuzzJepsen(f *testing.F) { fuzz(f, "jepsen", "testdata/jepsen.edn", "testdata/jepsen/*.edn") }
func FuzzMaelstrom(f *testing.F) {
	fuzz(f, "maelstrom", "testdata/maelstrom.edn", "testdata/maelstrom.txt")
}
func FuzzS2(f *testing.F)          { fuzz(f, "s2", "testdata/s2.jsonl") }
func FuzzPorcupineKV(f *testing.F) { fuzz(f, "porcupine-kv", "testdata/kv.txt") }

func fuzz(f *testing.F, name string, patterns ...string) {
	source, ok := Lookup(name)
	if !ok {
		f.Fatal(name)
	}
	for _, pattern := range patterns {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			f.Fatalf("%s: no files", pattern)
		}
		for _, file := range files {
			f.Add(read(f, file))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		recognise(unpacked(text))
		r, err := Read("x", bytes.NewReader(text), Options{From: source})
		if err != nil {
			if e := (*histories.Error)(nil); errors.As(err, &e) && (e.Line < 1 || e.Column < 1 || e.File != "x") {
				t.Errorf("an error without its place: %v", err)
			}
			return
		}
		events := r.AppendEvents(nil)
		for _, printed := range [][]byte{r.AppendNotation(nil), events} {
			again, err := histories.Parse("x", printed)
			if err != nil || !bytes.Equal(again.AppendEvents(nil), events) {
				t.Errorf("%v: printed as\n%s", err, printed)
			}
		}
	})
}

// TestHuge reads what is large in one dimension.
func TestHuge(t *testing.T) {
	const many = 50_000
	var poll, appends, reads strings.Builder
	poll.WriteString("{:process 0 :type :invoke :f :poll :value [[:poll]]}{:process 0 :type :ok :f :poll :value [[:poll {")
	for i := range many {
		poll.WriteString(strings.Repeat("k", 1+i%3) + strings.Repeat("0123456789"[i%10:i%10+1], 1) + string(rune('a'+i%26)))
		for n := i; n > 0; n /= 10 {
			poll.WriteByte(byte('0' + n%10))
		}
		poll.WriteString(" [] ")
	}
	poll.WriteString("}]]}\n")
	for range 20 { // of unknown outcome, in any order
		appends.WriteString(`{"event":{"Start":{"Append":{"num_records":1,"record_hashes":[1]}}},"client_id":` + number(appends.Len()) + `,"op_id":` + number(appends.Len()) + "}\n")
	}
	reads.WriteString(appends.String())
	reads.WriteString(`{"event":{"Start":"Read"},"client_id":-1,"op_id":-1}` + "\n")
	reads.WriteString(`{"event":{"Finish":{"ReadSuccess":{"tail":9,"stream_hash":1}}},"client_id":-1,"op_id":-1}` + "\n")
	word := strings.Repeat("a", 20_000)
	kv := `{:process 0 :type :invoke :f :append :key "a" :value "` + word + `"}{:process 1 :type :invoke :f :get :key "a"}{:process 1 :type :ok :f :get :key "a" :value "` + word + word + "b\"}\n"
	for _, test := range []struct {
		name, source, text string
		lost               string
	}{
		{"many keys", "jepsen", poll.String(), ""},
		{"a number of a million digits", "jepsen", "{:process 0 :type :invoke :f :send :value [[:send 1 " + strings.Repeat("9", 1_000_000) + "]]}\n", ""},
		{"many orders", "s2", reads.String(), ""},
		{"many cuts", "porcupine-kv", kv, "in too many to try"},
	} {
		source, _ := Lookup(test.source)
		r, err := Read(test.name, strings.NewReader(test.text), Options{From: source})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if lost := strings.Join(r.Untranslated, "\n"); test.lost != "" && !strings.Contains(lost, test.lost) {
			t.Errorf("%s: the list lacks %q: %s", test.name, test.lost, lost)
		}
		t.Logf("%s: %d operations of %d bytes", test.name, len(r.Ops()), len(test.text))
	}
}

func number(n int) string { return histories.Int(int64(n)).String() }
