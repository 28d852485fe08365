package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (a *app) man() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages",
		Long: "man writes a manual page for each command and each topic into a folder, which is made if\n" +
			"it is not there, and over the pages of another version. The pages have the date of the\n" +
			"commit that check was built from or, where that is not known, SOURCE_DATE_EPOCH or today.",
		Example: "  check man /usr/local/share/man/man1\n" +
			"  check man pages",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" { // see noDash; many pages do not go to stdout either
				return errors.New("expected a folder to write the pages into, found -; ./- is one")
			}
			n, err := writePages(cmd.Root(), args[0])
			if err != nil {
				a.fail(exitInput, err)
				return nil
			}
			if asJSON {
				a.encode(jsonMan{args[0], n})
				return nil
			}
			fmt.Fprintf(a.out, "%s: %s\n", label(args[0]), count(n, "page"))
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// jsonMan is the JSON of man. Names are part of the command line's contract.
type jsonMan struct {
	Folder string `json:"folder"` // that they are in
	Pages  int    `json:"pages"`  // that were written
}

// writePages writes the page of a command and of all below it, and returns how
// many there are.
func writePages(cmd *cobra.Command, folder string) (pages int, err error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return 0, err
	}
	for _, c := range cmd.Commands() {
		if c.Hidden || c.Name() == "help" {
			continue
		}
		n, err := writePages(c, folder)
		if err != nil {
			return 0, err
		}
		pages += n
	}
	page, err := manPage(cmd)
	if err != nil {
		return 0, err
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	return pages + 1, replaceFile(filepath.Join(folder, name), page)
}

// manPage is the page of a command or a topic. Cobra reads the texts as
// Markdown, which they are not: in a copy, whatever would be read as a mark is
// escaped, and what depends on its columns is set as it is.
func manPage(cmd *cobra.Command) ([]byte, error) {
	page := *cmd
	page.Short = plain(cmd.Short)
	page.Long = plain(cmd.Long)
	if !cmd.Runnable() {
		page.DisableFlagsInUseLine = true
		page.Long = verbatim(cmd.Long)
	}
	page.DisableAutoGenTag = true
	b := build()
	header := doc.GenManHeader{Section: "1", Source: "isrcheck " + b.Isrcheck, Manual: "isrcheck"}
	if built, err := time.Parse(time.RFC3339, b.Time); err == nil {
		header.Date = &built
	}
	var out bytes.Buffer
	err := doc.GenMan(&page, &header, &out)
	return out.Bytes(), err
}

// plain is text that Markdown shows as it is.
func plain(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]<>()#+-.!|~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// verbatim is a block of Markdown that keeps its lines and columns.
func verbatim(text string) string { return "```\n" + text + "\n```" }
