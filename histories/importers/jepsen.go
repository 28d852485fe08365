package importers

import (
	"bufio"
	"bytes"
	"regexp"

	"github.com/isrcheck/isrcheck/histories"
)

// jepsen is the history.edn or history.txt of a test with the Kafka workload
// (jepsen.tests.kafka, and the queue workloads made of it).
var jepsen = Source{
	Name: "jepsen",
	Says: "Jepsen's history.edn or history.txt of the Kafka (queue) workload",
	recognises: func(head []byte) bool {
		return lineOfText.Match(head) || mapOfEDN.Match(head)
	},
	read: func(in *input) (*made, error) {
		return readQueue(in, histories.Config{{Key: "system", Value: "kafka"}})
	},
}

// mapOfEDN is how maps of EDN begin that have keywords for keys, in a vector or
// not, behind comments and tags (#jepsen.history/History) or not. Whatever they
// are, Jepsen's reader can say what is wrong with them.
var mapOfEDN = regexp.MustCompile(`^([\s,]|;.*\n)*((#[\w./]+[\s,]*)?[\[(])?([\s,]|;.*\n)*(#[\w./]+\s*)?\{[\s,]*:`)

// firstEvent returns the first event of a recording that begins like that and
// that is wanted. It reports false if there is none.
func firstEvent(head []byte, wanted func(*event) bool) (event, bool) {
	if !lineOfText.Match(head) && !mapOfEDN.Match(head) {
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
