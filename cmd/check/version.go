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
			"if it was built in a checkout, and modified if that had changes.",
		Example: "  check version --json | jq -r .revision",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := build()
			if asJSON {
				a.encode(b)
				return nil
			}
			fmt.Fprintf(a.out, "isrcheck %s (%s)\n", b.Isrcheck, b.details())
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
	Modified bool   `json:"modified"`           // the checkout had changes
}

// build says what this program was built from.
func build() jsonBuild {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info)
}

// buildOf reads what the build left behind, which is nil if it was nothing: not
// every way of building leaves something.
func buildOf(info *debug.BuildInfo) jsonBuild {
	b := jsonBuild{Isrcheck: "(devel)", Format: 1, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// details are all but the version, in words.
func (b jsonBuild) details() string {
	text := fmt.Sprintf("history format %d, %s, %s", b.Format, b.Go, b.Platform)
	if b.Revision != "" {
		text += ", commit " + b.Revision
	}
	if b.Time != "" {
		text += " of " + b.Time
	}
	if b.Modified {
		text += ", modified"
	}
	return text
}
