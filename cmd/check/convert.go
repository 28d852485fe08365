package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) convert() *cobra.Command {
	var to string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "convert IN -o OUT",
		Short: "Rewrite a history in another encoding",
		Long: "convert rewrites a history, without loss, in the encoding that the name of OUT asks for:\n" +
			".hist is for people; .jsonl, .jsonl.gz and .jsonl.zst are for machines.\n" +
			"The encoding of IN is recognised by its content; - is stdin.\n" +
			"OUT is replaced as a whole or, if anything goes wrong, left alone.",
		Example: "  check convert run.jsonl.zst -o run.hist",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := apart([]output{{"--output", to}}, args[0]); err != nil {
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			a.convertFile(ctx, args[0], to, asJSON)
			return nil
		},
	}
	a.limitFlag(cmd)
	cmd.Flags().StringVarP(&to, "output", "o", "", "the file to write (.hist, .jsonl, .jsonl.gz or .jsonl.zst)")
	jsonFlag(cmd, &asJSON)
	cmd.MarkFlagRequired("output")
	return cmd
}

func (a *app) convertFile(ctx context.Context, from, to string, asJSON bool) {
	h, err := a.read(ctx, from)
	if err == nil {
		err = h.WriteFileContext(ctx, to)
	}
	if err != nil {
		a.failOrStop(ctx, err)
		return
	}
	if asJSON {
		a.encode(jsonConverted{to, len(h.Ops()), len(h.Marks())})
		return
	}
	fmt.Fprintf(a.out, "%s: %s, %s\n", label(to), count(len(h.Ops()), "operation"), count(len(h.Marks()), "mark"))
}

// jsonConverted is the JSON of a conversion. Names are part of the command
// line's contract.
type jsonConverted struct {
	File       string `json:"file"`       // that was written
	Operations int    `json:"operations"` // of the history
	Marks      int    `json:"marks"`      // faults, and what clients said of themselves
}
