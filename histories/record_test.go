package histories

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// counter is a clock that counts.
func counter() func() int64 {
	now := int64(0)
	return func() int64 { now++; return now }
}

func newSend(process string, values ...int64) Op {
	o := NewOp(process, Send)
	for _, v := range values {
		o.Values = append(o.Values, Int(v))
	}
	return o
}

// lines records what it is given, one element a call.
type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, string(b))
	return len(b), nil
}

func TestRecorder(t *testing.T) {
	var file lines
	r, err := NewRecorder(&file, Header{Config: Config{{"acks", "1"}}}, counter())
	if err != nil {
		t.Fatal(err)
	}
	one := r.Invoke(newSend("P1", 1))
	two := r.Invoke(newSend("P1", 2, 3))
	answer := NewOp("", Send)
	answer.Outcome, answer.Offset = OK, 4
	r.Complete(two, answer)
	answer = NewOp("", Send)
	answer.Outcome, answer.Code = Info, "timed out"
	r.Complete(one, answer)
	r.Mark(Mark{Text: "kill leader", Offset: None})
	r.Mark(Mark{Kind: Reset, Process: "C1", To: "latest", Offset: None})
	id := r.Invoke(NewOp("C1", Poll))
	answer = NewOp("", Poll)
	answer.Outcome, answer.Records, answer.HW = OK, []Record{{4, Int(2)}}, 6
	r.Complete(id, answer)
	r.Invoke(NewOp("C1", Subscribe))
	h, err := r.Close()
	if err != nil {
		t.Fatal(err)
	}
	const want = `history 1
config acks=1
1-4 P1 send 1 => info code="timed out" @-
2-3 P1 send 2,3 => ok @4
5 nemesis kill leader
6 client C1 reset latest
7-8 C1 poll => ok [4:2] hw=6
9- C1 subscribe
`
	if got := string(h.AppendNotation(nil)); got != want {
		t.Errorf("recorded\n%s\nwant\n%s", got, want)
	}
	written, err := Parse("w", []byte(strings.Join(file.text, "")))
	if err != nil {
		t.Fatal(err)
	}
	if !Equal(h, written) {
		t.Errorf("wrote\n%s\nwant\n%s", written.AppendNotation(nil), want)
	}
}

// TestRecorderKeepsClientsApart records many clients at once, and reads back
// what a run leaves behind that is killed after any of its lines.
func TestRecorderKeepsClientsApart(t *testing.T) {
	const clients, each = 8, 10
	var file lines
	r, err := NewRecorder(&file, Header{Note: "clients"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			p := fmt.Sprintf("P%d", c)
			for i := range each {
				id := r.Invoke(newSend(p, int64(c*each+i)))
				next := r.Invoke(newSend(p, int64(1000+c*each+i)))
				answer := NewOp("", Send)
				answer.Outcome = Info
				r.Complete(next, answer)
				answer.Outcome = Fail
				r.Complete(id, answer)
				r.Mark(Mark{Kind: Crash, Process: p, Offset: None})
			}
		})
	}
	wg.Wait()
	h, err := r.Close()
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Ops()) != 2*clients*each || len(h.Marks()) != clients*each {
		t.Errorf("recorded %d operations and %d marks", len(h.Ops()), len(h.Marks()))
	}
	if want := 1 + 5*clients*each; len(file.text) != want {
		t.Fatalf("%d calls of Write, want %d: one a line", len(file.text), want)
	}
	for n := 1; n <= len(file.text); n++ {
		if !strings.HasSuffix(file.text[n-1], "}\n") || strings.Count(file.text[n-1], "\n") != 1 {
			t.Fatalf("a call of Write with %q; want a line", file.text[n-1])
		}
		killed, err := Parse("killed", []byte(strings.Join(file.text[:n], "")))
		if err != nil {
			t.Fatalf("after %d lines: %v", n, err)
		}
		if n == len(file.text) && !Equal(h, killed) {
			t.Error("what was written is not what was recorded")
		}
	}
}

func TestRecorderRejects(t *testing.T) {
	tests := []struct {
		name string
		do   func(r *Recorder)
		want string
	}{
		{"a malformed operation", func(r *Recorder) { r.Invoke(NewOp("P1", Send)) }, "recording send of P1: send needs values"},
		{"a malformed answer", func(r *Recorder) {
			a := NewOp("", Poll)
			a.Outcome, a.End = OK, 3
			r.Complete(r.Invoke(NewOp("C2", Poll)), a)
		}, "recording the answer to poll: poll => ok does not have end"},
		{"an answer that is none", func(r *Recorder) { r.Complete(r.Invoke(NewOp("C2", Poll)), NewOp("", Poll)) },
			"recording the answer to poll: expected the outcome ok, fail or info"},
		{"a malformed mark", func(r *Recorder) { r.Mark(Mark{Offset: None}) }, "recording a mark: expected a text"},
		{"an overlap", func(r *Recorder) { r.Invoke(NewOp("C1", Seek)); r.Invoke(NewOp("C1", Poll)) }, "recording seek of C1: seek needs an offset"},
		{"two operations of a consumer", func(r *Recorder) { r.Invoke(NewOp("C2", Poll)); r.Invoke(NewOp("C2", Poll)) },
			"recording 4- C2 poll: process C2 has an operation under way; only its sends may overlap"},
		{"an answer to nothing", func(r *Recorder) { r.Complete(99, NewOp("", Poll)) }, "recording an answer: no operation with id 99 is under way"},
		{"two answers", func(r *Recorder) {
			a := NewOp("", Poll)
			a.Outcome = Fail
			id := r.Invoke(NewOp("C2", Poll))
			r.Complete(id, a)
			r.Complete(id, a)
		}, "recording an answer: no operation with id 1 is under way"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var file lines
			r, err := NewRecorder(&file, Header{}, counter())
			if err != nil {
				t.Fatal(err)
			}
			good := NewOp("", Poll)
			good.Outcome = OK
			r.Complete(r.Invoke(NewOp("C1", Poll)), good)
			tt.do(r)
			r.Invoke(NewOp("C9", Poll))
			h, err := r.Close()
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got the error %v, want %s", err, tt.want)
			}
			written, err := Parse("w", []byte(strings.Join(file.text, "")))
			if err != nil {
				t.Fatal(err)
			}
			if !Equal(h, written) || !strings.HasSuffix(string(h.AppendNotation(nil)), "- C9 poll\n") {
				t.Errorf("recorded\n%s\nwrote\n%s", h.AppendNotation(nil), written.AppendNotation(nil))
			}
		})
	}
}

func TestRecorderTellsOfTheClock(t *testing.T) {
	times := []int64{5, 3, 6}
	r, err := NewRecorder(nil, Header{}, func() int64 {
		now := times[0]
		times = times[1:]
		return now
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r.Mark(Mark{Text: "tick", Offset: None})
	}
	h, err := r.Close()
	if err == nil || err.Error() != "recording: the clock went back from 5 to 3" {
		t.Errorf("got the error %v", err)
	}
	if got, want := string(h.AppendNotation(nil)), "history 1\n5 nemesis tick\n5 nemesis tick\n6 nemesis tick\n"; got != want {
		t.Errorf("recorded\n%s\nwant\n%s", got, want)
	}
}

func TestRecorderTellsOfTheWriter(t *testing.T) {
	full := errors.New("disk full")
	if _, err := NewRecorder(writer(func([]byte) (int, error) { return 0, full }), Header{}, nil); !errors.Is(err, full) {
		t.Errorf("got the error %v, want %v", err, full)
	}
	var file bytes.Buffer
	calls := 0
	r, err := NewRecorder(writer(func(b []byte) (int, error) {
		if calls++; calls == 3 {
			return 0, full
		}
		return file.Write(b)
	}), Header{}, counter())
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		r.Mark(Mark{Text: "tick", Offset: None})
	}
	h, err := r.Close()
	if !errors.Is(err, full) || len(h.Marks()) != 4 {
		t.Errorf("recorded %d marks with the error %v", len(h.Marks()), err)
	}
	written, err := Parse("w", file.Bytes())
	if err != nil || len(written.Marks()) != 1 {
		t.Errorf("%v: wrote %q, want what came before the failure", err, file.String())
	}
	r.Mark(Mark{Text: "late", Offset: None})
	if again, _ := r.Close(); !Equal(h, again) {
		t.Error("a closed recorder records")
	}
	if _, err := NewRecorder(nil, Header{Config: Config{{"a", "b"}}}, nil); err == nil {
		t.Error("a malformed header is accepted")
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
