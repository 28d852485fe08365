package kafka

import (
	"encoding/binary"
	"hash/crc32"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/isrcheck/isrcheck/histories"
)

// batchOf encodes values as one record batch, the unit that a log takes whole
// or not at all (the message format of KIP-98, magic 2). No producer id: it has
// no sequence that a broker could drop it for.
func batchOf(values []histories.Value, key []byte, now time.Time) []byte {
	b := kmsg.RecordBatch{PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: int32(len(values) - 1), FirstTimestamp: now.UnixMilli(),
		MaxTimestamp: now.UnixMilli(), ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: int32(len(values))}
	for i, v := range values {
		r := kmsg.Record{OffsetDelta: int32(i), Key: key, Value: bytesOf(v)}
		r.Length = int32(len(r.AppendTo(nil)) - 1) // the length itself takes one byte while it is 0
		b.Records = r.AppendTo(b.Records)
	}
	const lengthAt, crcAt = 8, 17
	out := b.AppendTo(nil)
	binary.BigEndian.PutUint32(out[lengthAt:], uint32(len(out)-lengthAt-4))
	binary.BigEndian.PutUint32(out[crcAt:], crc32.Checksum(out[crcAt+4:], castagnoli))
	return out
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// bytesOf is how a value is written into a record.
func bytesOf(v histories.Value) []byte {
	n, _ := v.Integer() // the recorder sends nothing else
	return strconv.AppendInt(nil, n, 10)
}

// valueOf reads the value of a record. What the recorder did not write is
// somebody else's record, and kept as it is.
func valueOf(b []byte) histories.Value {
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil && strconv.FormatInt(n, 10) == string(b) {
		return histories.Int(n)
	}
	if !utf8.Valid(b) {
		return histories.String(strconv.QuoteToASCII(string(b)))
	}
	return histories.String(string(b))
}

// recordsOf are records as the history has them.
func recordsOf(rs []*kgo.Record) []histories.Record {
	out := make([]histories.Record, 0, len(rs))
	for _, r := range rs {
		out = append(out, histories.Record{Offset: r.Offset, Value: valueOf(r.Value)})
	}
	return out
}
