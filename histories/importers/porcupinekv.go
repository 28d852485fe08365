package importers

import (
	"fmt"
	"io"

	"github.com/isrcheck/isrcheck/histories"
)

// porcupineKV is a log of porcupine's tests (test_data/kv) of a key-value store
// whose operations are get, put and append. What was appended to a key is a log,
// and a get of the key reads it from its beginning to its end; a put begins
// another log.
var porcupineKV = Source{
	Name: "porcupine-kv",
	Says: "porcupine's logs of a key-value store with put, append and get",
	recognises: func(head []byte) bool {
		e, ok := firstEvent(head, func(*event) bool { return true })
		return ok && e.at.get("key") != nil
	},
	read: readKV,
}

// A kvOp is one operation with its answer.
type kvOp struct {
	f              string
	key, value     string
	got            form // what a get returned
	process        string
	outcome        histories.Outcome
	call, returned int64
	line           int
	returnLine     int
}

// A kvStore translates the operations on all keys.
type kvStore struct {
	in    *input
	made  made
	keys  []string // in order of first mention
	ops   map[string][]*kvOp
	names partitions
}

func readKV(in *input) (*made, error) {
	s := &kvStore{in: in, ops: map[string][]*kvOp{}}
	s.made.config = histories.Config{
		{Key: "system", Value: "other"}, {Key: "acks", Value: "all"}, {Key: "enable.idempotence", Value: "true"},
		{Key: "offsets", Value: "dense"}, {Key: "reads", Value: "linearizable"},
	}
	if err := s.pair(events(in)); err != nil {
		return nil, err
	}
	for _, key := range s.keys {
		s.key(key, s.ops[key])
	}
	if len(s.made.ops) == 0 {
		return nil, nothingOf(in.name, "operations :append and :get of a key", &s.made.lost)
	}
	return &s.made, nil
}

func (s *kvStore) fail(at *form, format string, args ...any) error {
	return &histories.Error{File: s.in.name, Line: at.line, Column: at.col, Msg: fmt.Sprintf(format, args...)}
}

// pair puts events together to operations, by key in order of their calls.
func (s *kvStore) pair(r eventReader) error {
	var now clock
	open := map[string]*kvOp{}
	for {
		e, err := r.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		at, err := now.at(histories.None)
		if err != nil {
			return s.fail(&e.at, "%v", err)
		}
		if e.process.kind != integer {
			return s.fail(&e.process, "expected :process as an integer, found %s", clip(e.process.String()))
		}
		running := open[e.process.text]
		switch {
		case e.typ == "invoke" && running != nil:
			return s.fail(&e.at, "process %s has an operation under way (line %d); expected its completion before", e.process.text, running.line)
		case e.typ == "invoke":
			if open[e.process.text], err = s.invoke(&e, at); err != nil {
				return err
			}
			continue
		case running == nil:
			return s.fail(&e.at, "process %s has no operation under way; expected its invocation before", e.process.text)
		case running.f != e.f:
			return s.fail(&e.at, "process %s completes :%s, and its invocation (line %d) says :%s", e.process.text, clip(e.f), running.line, running.f)
		}
		delete(open, e.process.text)
		if err := s.complete(running, &e, at); err != nil {
			return err
		}
	}
}

func (s *kvStore) invoke(e *event, now int64) (*kvOp, error) {
	key := e.at.get("key")
	switch {
	case key == nil || key.kind != text:
		return nil, s.fail(&e.at, "expected an operation with a string as its :key")
	case e.f != "get" && e.f != "put" && e.f != "append":
		return nil, s.fail(&e.at, "expected :f to be :get, :put or :append, found %s", clip(e.f))
	case e.f != "get" && (e.value == nil || e.value.kind != text):
		return nil, s.fail(&e.at, "expected a string as the :value of :%s", e.f)
	}
	o := &kvOp{f: e.f, key: key.text, process: e.process.text, call: now, returned: histories.None, line: e.at.line}
	if e.f != "get" {
		o.value = e.value.text
	}
	if s.ops[o.key] == nil {
		s.keys = append(s.keys, o.key)
	}
	s.ops[o.key] = append(s.ops[o.key], o)
	return o, nil
}

// complete notes an answer.
func (s *kvStore) complete(o *kvOp, e *event, now int64) error {
	if key := e.at.get("key"); key == nil || key.text != o.key {
		return s.fail(&e.at, "expected the :key of the invocation in line %d", o.line)
	}
	if o.f != "get" && e.value != nil && e.value.kind != nothing && (e.value.kind != text || e.value.text != o.value) {
		return s.fail(e.value, "expected the :value of the invocation in line %d, found %s", o.line, clip(e.value.String()))
	}
	o.returned, o.returnLine = now, e.at.line
	o.outcome = outcomes[e.typ]
	if o.f != "get" || o.outcome != histories.OK {
		return nil
	}
	if e.value == nil || e.value.kind != text {
		return s.fail(&e.at, "expected a string as the :value that :get returned")
	}
	o.got = *e.value
	return nil
}
