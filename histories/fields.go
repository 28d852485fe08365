package histories

import "strings"

// A field is one thing an operation asks for or is answered with.
type field uint32

const (
	fValues field = 1 << iota
	fKey
	fAcks
	fTx
	fFrom
	fMax
	fAt
	fTS
	fTo
	fCode
	fOffset
	fRecords
	fHW
	fLSO
	fStart
	fEnd
)

var fieldNames = [...]string{"values", "key", "acks", "tx", "from", "max", "at", "ts", "an offset to go to", "code",
	"an offset told", "records", "hw", "lso", "start", "end"}

// String names the fields of a set.
func (f field) String() string {
	var names []string
	for i, n := range fieldNames {
		if f&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// A shape says which fields an operation of one kind has. Every operation may
// belong to a transaction.
type shape struct {
	asks    field // what the invocation must say
	may     field // what it may say besides
	answers field // what an ok must say
	reports field // what it may say besides
}

// shapes is the table of operations of the format.
var shapes = [...]shape{
	Send:          {asks: fValues, may: fKey | fAcks | fTx | fTS, reports: fOffset},
	Fetch:         {asks: fFrom, may: fMax | fTx, answers: fRecords, reports: fHW | fLSO | fStart},
	Poll:          {may: fTx, answers: fRecords, reports: fHW | fLSO},
	Scan:          {may: fTx, answers: fRecords, reports: fEnd},
	List:          {asks: fAt, may: fTS | fTx, answers: fOffset},
	Assign:        {asks: fFrom, may: fTx},
	Subscribe:     {may: fTx},
	Seek:          {asks: fTo, may: fTx},
	CommitOffset:  {asks: fTo, may: fTx},
	DeleteRecords: {asks: fTo, may: fTx, answers: fStart},
	Begin:         {asks: fTx},
	Commit:        {asks: fTx},
	Abort:         {asks: fTx},
}

// args is what an invocation of that kind may say.
func (k Kind) args() field { return shapes[k].asks | shapes[k].may }

// results is what an answer to that kind may say with that outcome.
func (k Kind) results(o Outcome) field {
	switch {
	case o == OK:
		return shapes[k].answers | shapes[k].reports
	case o == Info && k == Send: // the client may know where its record would be
		return fCode | fOffset
	case o == Open:
		return 0
	}
	return fCode
}

// stated returns the fields the operation has. An empty answer counts as
// stated records only for an ok, where nothing else can be meant.
func (o *Op) stated() field {
	var f field
	set := func(bit field, is bool) {
		if is {
			f |= bit
		}
	}
	set(fValues, len(o.Values) > 0)
	set(fKey, o.Key != "")
	set(fAcks, o.Acks != "")
	set(fTx, o.Tx != "")
	set(fFrom, o.From != None)
	set(fMax, o.Max != None)
	set(fAt, o.At != "")
	set(fTS, o.TS != None)
	set(fTo, o.To != None)
	set(fCode, o.Code != "")
	set(fOffset, o.Offset != None)
	set(fRecords, len(o.Records) > 0 || o.Outcome == OK && o.IsRead())
	set(fHW, o.HW != None)
	set(fLSO, o.LSO != None)
	set(fStart, o.Start != None)
	set(fEnd, o.End != None)
	return f
}
