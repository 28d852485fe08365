package schedule

import (
	"fmt"
	"testing"
)

func TestFind(t *testing.T) {
	const text = "\ufeff# set brokers=1\n\n  set brokers=3\r\nbug  gone\n 5 send send 1 via=9\n7 nemesis reassign to=1,x\n"
	tests := []struct {
		line int
		word string
		want string
	}{
		{0, "brokers=3", "3:7"},
		{0, "brokers=4", "3:7"},
		{0, "gone", "4:6"},
		{0, "absent", "1:1"},
		{5, "5", "5:2"},
		{5, "send", "5:9"},
		{5, "1", "5:14"},
		{5, "via=9", "5:16"},
		{5, "absent", "5:2"},
		{6, "to=x", "6:20"},
		{9, "send", "9:1"},
	}
	for _, tt := range tests {
		line, column := Find([]byte(text), tt.line, tt.word)
		if got := fmt.Sprintf("%d:%d", line, column); got != tt.want {
			t.Errorf("Find(%d, %q) is %s, want %s", tt.line, tt.word, got, tt.want)
		}
	}
}
