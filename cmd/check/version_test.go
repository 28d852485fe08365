package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestBuild(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	tests := []struct {
		info          *debug.BuildInfo
		version, says string
	}{
		{nil, "(devel)", ", of an unknown commit"},
		{&debug.BuildInfo{}, "(devel)", ", of an unknown commit"},
		{&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3", ""},
		{info, "v1.2.3", ", commit abc of 2026-01-02T03:04:05Z, modified"},
	}
	for _, test := range tests {
		b := buildOf(test.info)
		if b.Isrcheck != test.version || !strings.HasSuffix(b.String(), b.Platform+test.says+")") {
			t.Errorf("%s, want %s and %q", b, test.version, test.says)
		}
		if known := b.Revision != ""; known != (b.Modified != nil) {
			t.Errorf("%s says whether it was modified: %v, want %v", b.Isrcheck, b.Modified != nil, known)
		}
	}
}
