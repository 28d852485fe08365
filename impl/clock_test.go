package impl

import "testing"

func TestClock(t *testing.T) {
	var k clock
	if k.read(70) != 70 || k.wait(70, 5) != 5 {
		t.Errorf("a good clock shows %d at 70 and waits %d", k.read(70), k.wait(70, 5))
	}
	k.change(100, 30, 3, 1)
	for _, tt := range []struct{ now, shows, waits int64 }{{100, 100, 15}, {103, 101, 15}, {115, 105, 15}, {116, 105, 14}, {120, 106, 11}, {129, 109, 5}, {130, 110, 5}, {140, 120, 5}} {
		if k.read(tt.now) != tt.shows || k.wait(tt.now, 5) != tt.waits {
			t.Errorf("slower: shows %d at %d and waits %d", k.read(tt.now), tt.now, k.wait(tt.now, 5))
		}
	}
	k.change(140, 10, 1, 4)
	for _, tt := range []struct{ now, shows, waits int64 }{{140, 120, 1}, {145, 140, 1}, {149, 156, 1}, {150, 160, 5}, {151, 161, 5}} {
		if k.read(tt.now) != tt.shows || k.wait(tt.now, 5) != tt.waits {
			t.Errorf("faster: shows %d at %d and waits %d", k.read(tt.now), tt.now, k.wait(tt.now, 5))
		}
	}
	if w := k.wait(149, 20); k.read(149+w) != k.read(149)+20 {
		t.Errorf("a wait that outlasts the fault is %d", w)
	}
	if k.wait(141, 0) != 0 {
		t.Error("no wait becomes a wait")
	}
}
