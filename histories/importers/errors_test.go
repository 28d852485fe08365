package importers

import (
	"errors"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/isrcheck/isrcheck/histories"
)

// TestErrors demands of what cannot be read an error that says where and what
// was expected.
func TestErrors(t *testing.T) {
	const (
		invoke = "{:process 0, :type :invoke, :f :send, :value [[:send 1 5]]}\n"
		ended  = invoke + "{:process 0, :type :ok, :f :send, :value "
		start  = `{"event":{"Start":"Read"},"client_id":1,"op_id":0}` + "\n"
	)
	for _, test := range []struct{ source, text, want string }{
		{"jepsen", "", "x:1:1: expected operations :send, :poll or :txn"},
		{"jepsen", "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 3}\n", "x:1:1: expected operations :send, :poll or :txn of the Kafka workload; there is nothing of the kind (an operation :read (line 1))"},
		{"jepsen", "[1]", "x:1:2: expected a map, an operation of Jepsen, found an integer"},
		{"jepsen", "{:type :invoke}", "x:1:1: expected an operation with :process"},
		{"jepsen", "{:process 0}", "x:1:1: expected an operation with :type"},
		{"jepsen", "{:process 0 :type :maybe}", "x:1:19: expected :invoke, :ok, :fail or :info, found :maybe"},
		{"jepsen", "{:process \"a\" :type :ok}", "x:1:11: expected :process as an integer or a keyword"},
		{"jepsen", "{:process 0 :type :ok :time 1.5}", "x:1:29: expected :time as an integer"},
		{"jepsen", "{:process 0 :type :ok :time 99999999999999999999}", "x:1:29: expected :time as an integer that fits in 64 bits"},
		{"jepsen", "{:process 0 :type :ok :time 9223372036854775807}\n{:process 0 :type :ok}", "x:1:1: process 0 has no operation under way"},
		{"jepsen", "{:process 0 :type :invoke :f :poll :time 9223372036854775807}\n{:process 0 :type :ok :f :poll}", "x:2:1: the time does not fit in 64 bits"},
		{"jepsen", "{:process 0 :type :invoke :index 4}{:process 1 :type :invoke :index 4}", "x:1:69: expected an :index higher than the one before (4), found 4"},
		{"jepsen", invoke + invoke, "x:2:1: process 0 has an operation under way (line 1)"},
		{"jepsen", invoke + "{:process 0 :type :ok :f :poll}", "x:2:1: process 0 completes :poll, and its invocation (line 1) says :send"},
		{"jepsen", "{:process 0, :type :invoke, :f :send, :value 7}", "x:1:46: expected a vector of [:send key value] and [:poll], found an integer"},
		{"jepsen", "{:process 0, :type :invoke, :f :send, :value [\n  [:send 1]]}", "x:2:3: expected [:send key value], [:poll] or"},
		{"jepsen", "{:process 0, :type :invoke, :f :poll, :value [[:poll]]}\n{:process 0, :type :ok, :f :poll, :value [[:poll {1 [[-1 2]]}]]}", "x:2:55: expected an offset from 0 to 9223372036854775806, found -1"},
		{"jepsen", "{:process 0, :type :invoke, :f :poll, :value [[:poll]]}\n{:process 0, :type :ok, :f :poll, :value [[:poll {1 [2]}]]}", "x:2:54: expected an [offset value] pair, found 2"},
		{"jepsen", "{:process 0, :type :invoke, :f :poll, :value [[:poll]]}\n{:process 0, :type :ok, :f :poll, :value [[:poll {1 2}]]}", "x:2:53: expected a vector of [offset value] pairs, found an integer"},
		{"jepsen", "{:process 0, :type :invoke, :f :assign, :value [1]}\n{:process 0, :type :ok, :f :assign, :value 1}", "x:2:44: expected a vector of keys, found an integer"},
		{"jepsen", invoke + "{:process 0, :type :ok, :f :se", "x:2:31: the text ends within a form; expected } for the { in line 2 (is the file cut off?)"},
		{"jepsen", invoke + "{:process \"", "x:2:11: expected a closing quote before the end of the text (is the file cut off?)"},
		{"jepsen", "[" + invoke, "x:2:1: the text ends within a form; expected ]"},
		{"jepsen", "{:process}", "x:1:1: a key of this map has no value"},
		{"jepsen", "{:a ]}", "x:1:5: unexpected ]; expected a form"},
		{"jepsen", "{:a \x01}", "x:1:5: unexpected control character 0x01"},
		{"jepsen", "{:a \"b\xff\"}", "x:1:5: this string is not valid UTF-8"},
		{"jepsen", "{:a\xff 1}", "x:1:2: this is not valid UTF-8"},
		{"jepsen", `{:a "\q"}`, `x:1:6: expected an escape`},
		{"jepsen", "{:a \"\\\n\"}", `x:1:6: expected an escape`},
		{"jepsen", "{:a \\\n}", `x:1:5: expected a character behind \`},
		{"jepsen", `{:a "\u12"}`, `x:1:8: expected four hexadecimal digits`},
		{"jepsen", strings.Repeat("[", 1_000_000), "x:1:503: forms are nested more than 500 deep"},
		{"jepsen", strings.Repeat("#a ", 1_000_000), "nested more than 500 deep"},
		{"jepsen", strings.Repeat("#_ ", 1_000_000), "nested more than 500 deep"},
		{"jepsen", "0\t:invoke\t:send\t[[:send 1 5]]\nwhat\n", "x:2:1: expected a process, a tab, :invoke, :ok, :fail or :info, and a tab, found what"},
		{"jepsen", "0\t:invoke\t:send\t[[:send 1 5]\n", "x:1:29: the text ends within a form"},
		{"jepsen", "0\t:invoke\t:send\t[[:send 1 5]] 7\n", "x:1:31: expected a tab behind a vector"},
		{"maelstrom", invoke + "{:process 0, :type :ok, :f :send, :value [[:send 1 [9223372036854775807 5]]]}\n", "x:2:53: expected an offset from 0 to 9223372036854775806, found 9223372036854775807"},
		{"jepsen", ended + "[[:send 1 [99999999999999999999 5]]]}\n", "x:2:53: expected an offset from 0 to 9223372036854775806, found 99999999999999999999"},
		{"jepsen", ended + "[[:send 1 [1.5 5]]]}\n", "x:2:53: expected an offset from 0 to 9223372036854775806, found 1.5"},
		{"jepsen", ended + "[[:send 1 [-2 5]]]}\n", "x:2:53: expected an offset from 0 to 9223372036854775806, found -2"},
		{"jepsen", ended + "[[:send 1 [0 6]]]}\n", "x:2:52: expected the value of the invocation (line 1), 5, or a pair [offset value] of it, found [0 6]"},
		{"jepsen", ended + "[[:send 1 6]]}\n", "x:2:52: expected the value of the invocation (line 1), 5, or"},
		{"jepsen", ended + "[[:send 2 [0 5]]]}\n", "x:2:50: expected the key of the invocation (line 1), 1, found 2"},
		{"jepsen", ended + "[[:send 1 [0 5]] [:send 1 [1 6]]]}\n", "x:2:59: expected what the invocation (line 1) says in this place, found [:send 1 [1 6]]"},
		{"jepsen", ended + "[[:poll {}]]}\n", "x:2:43: expected what the invocation (line 1) says in this place, found [:poll {}]"},
		{"s2", "", "x:1:1: expected events of s2-verification"},
		{"s2", "{\n", "x:1:1: expected {\"event\":"},
		{"s2", "\n{\"event\":{},\"client_id\":1,\"op_id\":0}", "x:2:1: expected an \"event\" with either"},
		{"s2", `{"event":{"Start":"Read"},"op_id":0}`, `x:1:1: expected "client_id" and "op_id"`},
		{"s2", `{"event":{"Start":"Read"},"client_id":1.5,"op_id":0}`, `x:1:41: expected {"event"`},
		{"s2", `{"event":{"Start":"Write"},"client_id":1,"op_id":0}`, `x:1:19: expected "Read", "CheckTail" or {"Append":{...}}, found "Write"`},
		{"s2", `{"event":{"Start":{}},"client_id":1,"op_id":0}`, `x:1:19: expected "Read", "CheckTail" or {"Append":{...}}, found an object of 0 keys`},
		{"s2", `{"event":{"Start":{"Append":{"num_records":2,"record_hashes":[1]}}},"client_id":1,"op_id":0}`, "x:1:19: expected as many record_hashes as num_records; there are 1"},
		{"s2", `{"event":{"Start":{"Append":{"num_records":1,"record_hashes":[1e30]}}},"client_id":1,"op_id":0}`, "expected the arguments of an append"},
		{"s2", `{"event":{"Start":{"Append":{"num_records":1,"record_hashes":[1],"match_seq_num":-1}}},"client_id":1,"op_id":0}`, "expected a match_seq_num of 0 or more, found -1"},
		{"s2", start + start, "x:2:1: op_id 0 was used before"},
		{"s2", `{"event":{"Finish":"ReadFailure"},"client_id":1,"op_id":0}`, "x:1:1: op_id 0 is not under way"},
		{"s2", start + `{"event":{"Finish":"ReadFailure"},"client_id":2,"op_id":0}`, "x:2:1: op_id 0 was started by client 1 (line 1)"},
		{"s2", start + `{"event":{"Finish":"CheckTailFailure"},"client_id":1,"op_id":0}`, "x:2:20: CheckTailFailure does not finish what op_id 0 started (line 1)"},
		{"s2", start + `{"event":{"Finish":"Done"},"client_id":1,"op_id":0}`, `x:2:20: expected the success or failure of`},
		{"s2", start + `{"event":{"Finish":{"ReadSuccess":{"tail":3}}},"client_id":1,"op_id":0}`, `x:2:20: expected a "tail" of 0 or more, and of a read its "stream_hash"`},
		{"s2", start + strings.Replace(start, `"op_id":0`, `"op_id":1`, 1), "x:2:1: process \"C1\" calls fetch at 2 while its fetch of time 1 (line 1) is under way"},
		{"porcupine-kv", "", "x:1:1: expected operations :append and :get of a key"},
		{"porcupine-kv", `{:process 0 :type :invoke :f :get}`, "x:1:1: expected an operation with a string as its :key"},
		{"porcupine-kv", `{:process 0 :type :invoke :f :cas :key "a"}`, "x:1:1: expected :f to be :get, :put or :append, found cas"},
		{"porcupine-kv", `{:process 0 :type :invoke :f :append :key "a"}`, "x:1:1: expected a string as the :value of :append"},
		{"porcupine-kv", `{:process :a :type :invoke :f :get :key "a"}`, "x:1:11: expected :process as an integer"},
		{"porcupine-kv", `{:process 0 :type :ok :f :get :key "a"}`, "x:1:1: process 0 has no operation under way"},
		{"porcupine-kv", "{:process 0 :type :invoke :f :get :key \"a\"}\n{:process 0 :type :ok :f :get :key \"b\"}", "x:2:1: expected the :key of the invocation in line 1"},
		{"porcupine-kv", "{:process 0 :type :invoke :f :append :key \"a\" :value \"b\"}\n{:process 0 :type :ok :f :append :key \"a\" :value \"c\"}", "x:2:50: expected the :value of the invocation in line 1, found \"c\""},
		{"porcupine-kv", "{:process 0 :type :invoke :f :get :key \"a\"}\n{:process 0 :type :ok :f :get :key \"a\" :value nil}", "x:2:1: expected a string as the :value that :get returned"},
	} {
		source, _ := Lookup(test.source)
		_, err := Read("x", strings.NewReader(test.text), Options{From: source})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s of %.80q: %v; want %s", test.source, test.text, err, test.want)
			continue
		}
		if e := (*histories.Error)(nil); !errors.As(err, &e) || e.Line < 1 || e.Column < 1 {
			t.Errorf("%s of %.80q: an error without its place: %v", test.source, test.text, err)
		}
	}
}

// TestBinary demands that what is no text is told from what it begins with, and
// that what is a text stays the matter of its reader.
func TestBinary(t *testing.T) {
	pack := func(text string) string {
		var b strings.Builder
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		return b.String()
	}
	const plain = "history 1\n1-2 P1 send 1 => ok @0\n"
	jepsen, _ := Lookup("jepsen")
	for _, test := range []struct {
		text string
		from *Source
		want string
	}{
		{"JEPSEN\x00\x00\x00\x01\x00", nil, "this looks like Jepsen's binary format (.jepsen); expected the history.edn or"},
		{"JEPSEN\x00\x00\x00\x01\x00", jepsen, "this looks like Jepsen's binary format (.jepsen); expected"},
		{pack("JEPSEN\x00\x00\x00\x01\x00"), nil, "this looks like Jepsen's binary format (.jepsen); expected"},
		{pack(pack(plain)), nil, "this looks like gzip data within packed data; expected"},
		{"PK\x03\x04...", nil, "this looks like a zip archive; expected"},
		{"\x8a\x01\x02\xff\xd0", nil, "this looks like binary data; expected maelstrom, "},
		{"an image\x00\x00", nil, "this looks like binary data; expected maelstrom, "},
		{"\xff\xfeh\x00i\x00", nil, "the text is UTF-16; expected UTF-8"},
		{"histor\u00ff", nil, "expected"},
		{pack(plain), nil, ""},
		{plain, nil, ""},
	} {
		_, err := Read("x", strings.NewReader(test.text), Options{From: test.from})
		if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), "x:1:1: "+test.want) {
			t.Errorf("%q: %v; want %s", test.text, err, test.want)
		}
	}
}

// TestTooLong demands that a recording beyond the limit is refused.
func TestTooLong(t *testing.T) {
	for name := range samples {
		if _, err := ReadFile("testdata/"+name, Options{Limit: 100}); !errors.Is(err, histories.ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCutOff cuts the samples off at many bytes. None may be read as more than
// the whole, and what ends within a line is refused: what is left of it may be
// another answer.
func TestCutOff(t *testing.T) {
	for name, of := range samples {
		source, _ := Lookup(of)
		whole := read(t, "testdata/"+name)
		all, err := Read(name, strings.NewReader(string(whole)), Options{From: source})
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(whole); n += 5 {
			r, err := Read(name, strings.NewReader(string(whole[:n])), Options{From: source})
			switch e := (*histories.Error)(nil); {
			case err == nil && whole[n-1] != '\n' && string(whole[n-1:]) != "]\n":
				t.Errorf("%d bytes of %s, which end within a line, are read", n, name)
			case err == nil && len(r.Ops()) > len(all.Ops()):
				t.Errorf("%d bytes of %s have %d operations, and all have %d", n, name, len(r.Ops()), len(all.Ops()))
			case err != nil && (!errors.As(err, &e) || e.Line < 1):
				t.Errorf("%d bytes of %s: an error without its place: %v", n, name, err)
			}
		}
	}
}

// TestLastLine reads texts that end without a line break. Only a vector says by
// itself that it is complete.
func TestLastLine(t *testing.T) {
	const (
		edn  = "{:process 0, :type :invoke, :f :send, :value [[:send 1 5]]}"
		text = "0\t:invoke\t:send\t[[:send \"a\" 1]]\n0\t:fail\t:send\t[[:send \"a\" 1]]\t:net"
		cut  = ": expected a line break before the end of the text; the file may have been cut off in this line"
	)
	for _, test := range []struct{ text, want string }{
		{edn, "x:1:60" + cut},
		{edn + " ; a comme", "x:1:70" + cut},
		{edn + "\n", ""},
		{"[" + edn + "]", ""},
		{"#jepsen.history/History [" + edn + "]", ""},
		{text, "x:2:35" + cut},
		{text + "-timeout\n", ""},
		{text + "-timeout\n  at", "x:3:5" + cut},
		{`{"event":{"Start":"Read"},"client_id":1,"op_id":0}`, "x:1:51" + cut},
		{`{:process 2, :type :invoke, :f :append, :key "5", :value "x 2 0 y"}`, "x:1:68" + cut},
	} {
		r, err := Read("x", strings.NewReader(test.text), Options{})
		switch {
		case test.want == "" && (err != nil || r.Source == ""):
			t.Errorf("%q: %v", test.text, err)
		case test.want != "" && (err == nil || err.Error() != test.want):
			t.Errorf("%q: %v, want %s", test.text, err, test.want)
		}
	}
}
