package importers

import "github.com/isrcheck/isrcheck/histories"

// maelstrom is the history of Maelstrom's kafka workload, which is Jepsen's with
// keys that are strings and without transactions. What it tests is a log of the
// user's own: what it acknowledges is there, and since the client never sends
// again, there once.
var maelstrom = Source{
	Name: "maelstrom",
	Says: "history.edn or history.txt of Maelstrom's kafka workload (keys are strings)",
	recognises: func(head []byte) bool {
		_, ok := firstEvent(head, func(e *event) bool { key := firstKey(e); return key != nil && key.kind == text })
		return ok
	},
	read: func(in *input) (*made, error) {
		return readQueue(in, histories.Config{
			{Key: "system", Value: "other"}, {Key: "acks", Value: "all"}, {Key: "enable.idempotence", Value: "true"},
		})
	},
}

// firstKey returns the first key that an operation of the queue workload names,
// nil if it names none.
func firstKey(e *event) *form {
	if e.value == nil || e.value.kind != sequence || len(e.value.items) == 0 {
		return nil
	}
	first := &e.value.items[0]
	switch e.f {
	case "assign", "subscribe":
		return first
	case "send", "txn", "poll":
		if len(first.items) < 2 || first.kind != sequence {
			return nil
		}
		of := &first.items[1]
		if first.items[0].text == "send" {
			return of
		}
		if of.kind == mapping && len(of.items) > 0 {
			return &of.items[0]
		}
	}
	return nil
}
