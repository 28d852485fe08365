package checker

import (
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

func TestBrief(t *testing.T) {
	scan := histories.NewOp("S1", histories.Scan)
	scan.Outcome, scan.Call, scan.Return, scan.End = histories.OK, 1, 2, 101
	for i := range int64(100) {
		if i != 50 {
			scan.Records = append(scan.Records, histories.Record{Offset: i, Value: histories.Int(1000 + i)})
		}
	}
	for _, test := range []struct {
		values  []histories.Value
		offsets []int64
		want    string
	}{
		{want: "1-2 S1 scan => ok [0:1000 1:1001 2:1002 3:1003 4:1004 5:1005 6:1006 7:1007 ... 92:1092 93:1093 94:1094 95:1095 96:1096 97:1097 98:1098 99:1099] end=101"},
		{offsets: []int64{50}, want: "1-2 S1 scan => ok [... 49:1049 51:1051 ...] end=101"},
		{offsets: []int64{100}, want: "1-2 S1 scan => ok [... 99:1099] end=101"},
		{values: []histories.Value{histories.Int(1000), histories.Int(1070)}, want: "1-2 S1 scan => ok [0:1000 ... 70:1070 ...] end=101"},
	} {
		if got := brief(&scan, test.values, test.offsets); got != test.want {
			t.Errorf("%v %v: %s, want %s", test.values, test.offsets, got, test.want)
		}
	}
	scan.Records = scan.Records[:2]
	if got, want := brief(&scan, nil, nil), scan.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
