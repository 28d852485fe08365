package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (a *app) version() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which version this is",
		Long: "version says which version of isrcheck this is, and what it was built from: the commit,\n" +
			"if it was built in a checkout, and modified if that had changes. A build that leaves no trace\n" +
			"of it (-buildvcs=false, or without git) is of an unknown commit, changed or not.",
		Example: "  check version --json | jq -r .revision",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := build()
			if asJSON {
				a.encode(b)
				return nil
			}
			fmt.Fprintln(a.out, b)
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// jsonBuild is the JSON of a version. Names are part of the command line's
// contract.
type jsonBuild struct {
	Isrcheck string `json:"isrcheck"`           // the module's version, (devel) where there is none
	Format   int    `json:"history_format"`     // that is read and written
	Go       string `json:"go"`                 // version of Go
	Platform string `json:"platform"`           // as os/architecture
	Revision string `json:"revision,omitempty"` // the commit, where it is known
	Time     string `json:"time,omitempty"`     // of the commit, RFC 3339
	Modified *bool  `json:"modified,omitempty"` // the checkout had changes, where it is known
}

// devel is the version where the build left none.
const devel = "(devel)"

// build says what this program was built from.
func build() jsonBuild {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info)
}

// buildOf reads what the build left behind, which is nil if it was nothing: not
// every way of building leaves something.
func buildOf(info *debug.BuildInfo) jsonBuild {
	b := jsonBuild{Isrcheck: devel, Format: 1, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return b
	}
	if info.Main.Version != "" {
		b.Isrcheck = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			modified := s.Value == "true"
			b.Modified = &modified
		}
	}
	return b
}

func (b jsonBuild) String() string {
	return fmt.Sprintf("isrcheck %s (history format %d, %s, %s%s)", b.Isrcheck, b.Format, b.Go, b.Platform, b.source())
}

// source says which state of the source it was built from.
func (b jsonBuild) source() string {
	text := ""
	if b.Revision != "" {
		text += ", commit " + b.Revision
	} else if b.Isrcheck == devel {
		text += ", of an unknown commit"
	}
	if b.Time != "" {
		text += " of " + b.Time
	}
	if b.Modified != nil && *b.Modified {
		text += ", modified"
	}
	return text
}
