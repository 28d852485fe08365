package main

import "testing"

func TestByteSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "17": 17, "17B": 17, "1K": 1024, "2KiB": 2048, "3kb": 3000,
		"64MB": 64e6, "64M": 64 << 20, "1MiB": 1 << 20, "2G": 2 << 30, "2GiB": 2 << 30, "2GB": 2e9} {
		if got, err := byteSize(text); err != nil || got != want {
			t.Errorf("byteSize(%q) is %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "M", "many", "-1", "1.5G", "1X", "1KK", "1iB", "9223372036854775808", "9007199254740993K"} {
		if got, err := byteSize(text); err == nil {
			t.Errorf("byteSize(%q) is %d, want an error", text, got)
		}
	}
}
