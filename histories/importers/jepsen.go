package importers

import (
	"bufio"
	"bytes"

	"github.com/isrcheck/isrcheck/histories"
)

// jepsen is the history.edn or history.txt of a test with the Kafka workload
// (jepsen.tests.kafka, and the queue workloads made of it).
var jepsen = Source{
	Name: "jepsen",
	Says: "Jepsen's history.edn or history.txt of the Kafka (queue) workload",
	recognises: func(head []byte) bool {
		e, ok := firstEvent(head, func(e *event) bool { return true })
		return ok && e.at.get("key") == nil
	},
	read: func(in *input) (*made, error) {
		return readQueue(in, histories.Config{{Key: "system", Value: "kafka"}})
	},
}

// firstEvent returns the first event of a recording that begins like that and
// that is wanted. It reports false if there is none.
func firstEvent(head []byte, wanted func(*event) bool) (event, bool) {
	start := bytes.TrimLeft(head, " \t\r\n,")
	if !lineOfText.Match(head) && (len(start) == 0 || bytes.IndexByte([]byte("{[(#;"), start[0]) < 0 || bytes.HasPrefix(start, []byte(`{"`))) {
		return event{}, false
	}
	r := events(&input{r: bufio.NewReaderSize(bytes.NewReader(head), headSize)})
	for {
		e, err := r.next()
		if err != nil {
			return e, false
		}
		if wanted(&e) {
			return e, true
		}
	}
}
