package histories

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// same compares two histories field by field, without the printers.
func same(a, b *History) bool {
	plain := func(h *History) any {
		type content struct {
			header   Header
			ops      []Op
			marks    []Mark
			comments []comment
		}
		c := content{h.header, slices.Clone(h.ops), slices.Clone(h.marks), slices.Clone(h.comments)}
		c.header.scheduleLine = 0
		for i := range c.ops {
			c.ops[i].Line, c.ops[i].ReturnLine = 0, 0
		}
		for i := range c.marks {
			c.marks[i].Line = 0
		}
		if len(c.header.Config) == 0 {
			c.header.Config = nil
		}
		return c
	}
	return reflect.DeepEqual(plain(a), plain(b))
}

func TestEncodingsLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := genHistory().Draw(t, "history")
		notation, events := h.AppendNotation(nil), h.AppendEvents(nil)
		n, err := Parse("h.hist", notation)
		if err != nil {
			t.Fatalf("%v\n%s", err, notation)
		}
		e, err := Parse("h.jsonl", events)
		if err != nil {
			t.Fatalf("%v\n%s", err, events)
		}
		if !same(h, n) || !same(h, e) {
			t.Fatalf("the history changed:\n%s\nas notation:\n%s\nas events:\n%s", notation, n.AppendNotation(nil), e.AppendNotation(nil))
		}
		if got := e.AppendNotation(nil); !bytes.Equal(got, notation) {
			t.Fatalf("notation -> events -> notation gives\n%s\nwant\n%s", got, notation)
		}
		if got := n.AppendEvents(nil); !bytes.Equal(got, events) {
			t.Fatalf("events -> notation -> events gives\n%s\nwant\n%s", got, events)
		}
	})
}

func TestEqualSeesEveryDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genHistory().Draw(t, "a"), genHistory().Draw(t, "b")
		if Equal(a, b) != same(a, b) {
			t.Fatalf("Equal = %v for\n%s\nand\n%s", Equal(a, b), a.AppendNotation(nil), b.AppendNotation(nil))
		}
	})
}

func TestLinesAreStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := genHistory().Draw(t, "history")
		notation := string(h.AppendNotation(nil)) + "\n"
		for i := range h.ops {
			if s := h.ops[i].String(); !strings.Contains(notation, "\n"+s+"\n") {
				t.Fatalf("%q is not a line of\n%s", s, notation)
			}
		}
		for i := range h.marks {
			if s := h.marks[i].String(); !strings.Contains(notation, "\n"+s+"\n") {
				t.Fatalf("%q is not a line of\n%s", s, notation)
			}
		}
	})
}

// TestConversion pins both encodings of one history, with all that has more
// than one spelling.
func TestConversion(t *testing.T) {
	notation := `# why
history 1
expect ok

config acks=all x-rack="a b"
note source=a cluster
note   second line
schedule
set a=b

1 P1 send 1
end
# first
1-9 P1 send 1 key="k" acks=all tx=T1 ts=9007199254740993 => ok @0
1-5 P1 send 2,"two" => info code="connection closed" @-
2 nemesis kill leader
2- C1 list ts=5 on="a b/3"
3-3 C2 fetch from=1 max=2 => ok [1:2 2:"two"] hw=3 lso=2 start=0
3-4 C2 subscribe => ok
# a reset
4 client C2 reset latest on=t/0
4-6 C2 poll => fail code=OFFSET_OUT_OF_RANGE

6-6 A1 delete-records 1 => ok start=1
# last
`
	events := `{"history":1,"config":{"acks":"all","x-rack":"a b"},"expect":"ok","note":"source=a cluster\n  second line","schedule":"set a=b\n\n1 P1 send 1\n","x-layout":["# why","history","expect","","config","note","schedule"]}
{"x-comment":"# first"}
{"index":0,"time":1,"process":"P1","type":"invoke","f":"send","on":"t/0","id":0,"values":[1],"key":"k","acks":"all","tx":"T1","ts":9007199254740993}
{"index":1,"time":1,"process":"P1","type":"invoke","f":"send","on":"t/0","id":1,"values":[2,"two"]}
{"index":2,"time":2,"process":"nemesis","type":"info","f":"kill leader"}
{"index":3,"time":2,"process":"C1","type":"invoke","f":"list","on":"a b/3","at":"ts","ts":5}
{"index":4,"time":3,"process":"C2","type":"invoke","f":"fetch","on":"t/0","from":1,"max":2}
{"index":5,"time":3,"process":"C2","type":"ok","f":"fetch","on":"t/0","from":1,"max":2,"records":[[1,2],[2,"two"]],"hw":3,"lso":2,"start":0}
{"index":6,"time":3,"process":"C2","type":"invoke","f":"subscribe","on":"t/0"}
{"index":7,"time":4,"process":"C2","type":"ok","f":"subscribe","on":"t/0"}
{"x-comment":"# a reset"}
{"index":8,"time":4,"process":"client","type":"info","f":"C2 reset latest on=t/0"}
{"index":9,"time":4,"process":"C2","type":"invoke","f":"poll","on":"t/0"}
{"index":10,"time":5,"process":"P1","type":"info","f":"send","on":"t/0","id":1,"values":[2,"two"],"code":"connection closed"}
{"index":11,"time":6,"process":"C2","type":"fail","f":"poll","on":"t/0","code":"OFFSET_OUT_OF_RANGE"}
{"x-comment":""}
{"index":12,"time":6,"process":"A1","type":"invoke","f":"delete-records","on":"t/0","offset":1}
{"index":13,"time":6,"process":"A1","type":"ok","f":"delete-records","on":"t/0","offset":1,"start":1}
{"index":14,"time":9,"process":"P1","type":"ok","f":"send","on":"t/0","id":0,"values":[1],"key":"k","acks":"all","tx":"T1","ts":9007199254740993,"offset":0}
{"x-comment":"# last"}
`
	for name, text := range map[string]string{"h.hist": notation, "h.jsonl": events} {
		h, err := Parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(h.AppendNotation(nil)); got != notation {
			t.Errorf("%s in the notation:\n%s\nwant\n%s", name, got, notation)
		}
		if got := string(h.AppendEvents(nil)); got != events {
			t.Errorf("%s as events:\n%s\nwant\n%s", name, got, events)
		}
	}
}

// TestCanonical says what spellings become.
func TestCanonical(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"byte order mark and line ends", "\ufeffhistory 1\r\n1-2 P1 send 1 => ok @0\r\n", "history 1\n1-2 P1 send 1 => ok @0\n"},
		{"no final line break", "history 1\n1- P1 poll", "history 1\n1- P1 poll\n"},
		{"spaces", "history 1\n \t\n 1-2\tP1  send 1  =>  ok @0 \n", "history 1\n\n1-2 P1 send 1 => ok @0\n"},
		{"order of time", "history 1\n3 nemesis b\n# a\n1 nemesis a\n3-4 P1 poll => ok []\n", "history 1\n# a\n1 nemesis a\n3 nemesis b\n3-4 P1 poll => ok []\n"},
		{"order of arguments", "history 1\n1-2 P1 send 1 on=a/1 ts=3 tx=T acks=0 key=5 => ok @0\n", "history 1\n1-2 P1 send 1 key=5 acks=0 tx=T ts=3 on=a/1 => ok @0\n"},
		{"order of results", "history 1\n1-2 C fetch from=0 => ok start=0 hw=1 [ 0:1 ]\n", "history 1\n1-2 C fetch from=0 => ok [0:1] hw=1 start=0\n"},
		{"needless quotes", `history 1` + "\n" + `1-2 "P1" send "\u0041\/" tx="T" => fail code="X"`, "history 1\n1-2 P1 send \"A/\" tx=T => fail code=X\n"},
		{"several config lines", "history 1\nconfig acks=1\nexpect ok\nconfig reads=committed\n", "history 1\nconfig acks=1 reads=committed\nexpect ok\n"},
		{"expectation", "history 1\nexpect violation lost-write, invariant hw\n", "history 1\nexpect violation lost-write,invariant hw\n"},
		{"the default partition", "history 1\n1-2 P1 send 1 on=t/0 => info\n", "history 1\n1-2 P1 send 1 => info @-\n"},
		{"info with a code", "history 1\n1-2 P1 send 1 => info code=X\n", "history 1\n1-2 P1 send 1 => info code=X @-\n"},
		{"events without order or index",
			`{"expect":"ok","x-tool":{"a":[1.5e3,null]},"history":1}` + "\n\n" + `{"f":"send","values":[1],"type":"invoke","process":"P1","time":5}` + "\r\n" +
				`{"f":"reset 4","type":"info","process":"C1","time":3}` + "\n" + `{"x-a":true,"f":"send","offset":null,"type":"ok","process":"P1","time":5}`,
			"history 1\nexpect ok\n3 client C1 reset 4\n5-5 P1 send 1 => ok @-\n"},
		{"sends paired by kind", "{\"history\":1}\n" +
			`{"time":1,"process":"P1","type":"invoke","f":"send","values":[1],"id":7}` + "\n" + `{"time":2,"process":"P1","type":"invoke","f":"send","values":[2],"id":3}` + "\n" +
			`{"time":3,"process":"P1","type":"ok","f":"send","id":7,"offset":4}` + "\n" + `{"time":4,"process":"P1","type":"info","f":"send"}`,
			"history 1\n1-3 P1 send 1 => ok @4\n2-4 P1 send 2 => info @-\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := Parse("x", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(h.AppendNotation(nil)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestWithHeaderKeepsComments(t *testing.T) {
	h, err := Parse("x", []byte("history 1\n# why\nconfig acks=1\nexpect ok\n# first\n1- P1 poll\n# last\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		header Header
		want   string
	}{
		{Header{Config: h.Config().With("reads", "linearizable"), Note: "n"},
			"history 1\n# why\nconfig acks=1 reads=linearizable\nnote n\n# first\n1- P1 poll\n# last\n"},
		{Header{}, "history 1\n# why\n# first\n1- P1 poll\n# last\n"},
	} {
		got, err := h.WithHeader(tt.header)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(got.AppendNotation(nil)); s != tt.want {
			t.Errorf("got\n%s\nwant\n%s", s, tt.want)
		}
	}
	if _, err := h.WithHeader(Header{Expect: Expect{Verdict: "maybe"}}); err == nil {
		t.Error("an unknown verdict is accepted")
	}
}
