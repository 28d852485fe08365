package importers

import "strings"

// definite are the errors after which a record is in no log and never will be,
// with what makes it certain (kafka-replication.md, section 2.1). Whatever else
// a client says of a send that it calls a failure leaves its outcome unknown:
// time-outs and lost connections in any spelling, and leaders that are none any
// more, which may have written the record before. So do errors that a second
// attempt gets because of the first one, such as OUT_OF_ORDER_SEQUENCE_NUMBER and
// INVALID_PRODUCER_EPOCH.
var definite = map[string]string{
	"leadernotavailable":                 "there was no leader to send it to",
	"notenoughreplicas":                  "the size of the ISR is checked before the append",
	"invalidrequiredacks":                "acks are checked before the append",
	"messagetoolarge":                    "the size is checked before the append",
	"recordtoolarge":                     "the same, as Java's clients call it",
	"recordlisttoolarge":                 "the size is checked before the append",
	"recordbatchtoolarge":                "the same, as Java's clients call it",
	"corruptmessage":                     "the batch is checked before it is appended",
	"corruptrecord":                      "the same, as Java's clients call it",
	"invalidtimestamp":                   "timestamps are checked before the append",
	"invalidrecord":                      "records are checked before the append",
	"invalidtopic":                       "the name of the topic is checked before the append",
	"unsupportedcompressiontype":         "the compression is checked before the append",
	"unsupportedformessageformat":        "the format is checked before the append",
	"authorization":                      "permission is asked for before the append",
	"topicauthorization":                 "permission is asked for before the append",
	"topicauthorizationfailed":           "permission is asked for before the append",
	"clusterauthorization":               "permission is asked for before the append",
	"clusterauthorizationfailed":         "permission is asked for before the append",
	"transactionalidauthorization":       "permission is asked for before the append",
	"transactionalidauthorizationfailed": "permission is asked for before the append",

	// Maelstrom's protocol calls these definite: what was asked for did not
	// happen and never will (doc/protocol.md, Errors).
	"notsupported":           "error 10",
	"temporarilyunavailable": "error 11",
	"malformedrequest":       "error 12",
	"keydoesnotexist":        "error 20",
	"keyalreadyexists":       "error 21",
	"preconditionfailed":     "error 22",
	"txnconflict":            "error 30",
}

// isDefinite reports whether a word of an error is one of them, in the spelling
// of a keyword, of Kafka's protocol or of Java's exceptions.
func isDefinite(word string) bool {
	plain := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(word))
	_, ok := definite[strings.TrimSuffix(plain, "exception")]
	return ok
}
