package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/importers"
)

// An importing is the command import.
type importing struct {
	app    *app
	from   string
	config []string
	tx     bool
	to     string
	force  bool
	json   bool
}

func (a *app) importing() *cobra.Command {
	i := &importing{app: a}
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Make a history of what another tool recorded",
		Long: "import translates what another tool recorded into a history. verify, explain, minimize,\n" +
			"report and convert read such recordings as they are; import shows what they read, and\n" +
			"states settings that the recording does not tell. The content says which tool it was,\n" +
			"unless --from does:\n\n" + sourcesHelp() + "\n\n" +
			"What a history cannot say is listed on stderr and in a note of the history; none of it\n" +
			"makes a legal recording a violation. docs/import.md tells what becomes of everything.\n" +
			"Without -o the history is printed in the notation. A file that is there already is replaced\n" +
			"only if --force says so. - is stdin. Folders are searched for histories only: recordings\n" +
			"are named one by one.",
		Example: "  check import store/latest/history.edn -o run.hist\n" +
			"  check import --config acks=1 history.edn | check verify -\n" +
			"  check verify store/latest/history.edn",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			opts, err := i.options()
			if err != nil {
				return err
			}
			if err := i.isNew(args[0]); err != nil {
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			if err := i.run(ctx, args[0], opts); err != nil {
				a.failOrStop(ctx, err)
			}
			return nil
		},
	}
	a.limitFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&i.from, "from", "", "the tool: "+strings.Join(importers.Names(), ", "))
	flags.StringArrayVar(&i.config, "config", nil, "a setting of the system as KEY=VALUE (see 'check help settings'); may be repeated")
	flags.BoolVar(&i.tx, "transactions", false, "take Jepsen's sends and polls for transactions too, as in a test all of whose operations are")
	flags.StringVarP(&i.to, "output", "o", "", "the file to write (.hist, .jsonl, .jsonl.gz or .jsonl.zst)")
	flags.BoolVar(&i.force, "force", false, "replace OUT if it is there")
	jsonFlag(cmd, &i.json)
	return cmd
}

func sourcesHelp() string {
	rows := make([][]string, len(importers.Sources))
	for i, s := range importers.Sources {
		rows[i] = []string{"  " + s.Name, s.Says}
	}
	return table(rows)
}

// options says how to read, or what is wrong with the flags.
func (i *importing) options() (importers.Options, error) {
	opts := importers.Options{Limit: i.app.limit, Transactions: i.tx}
	if i.from != "" {
		source, ok := importers.Lookup(i.from)
		if !ok {
			return opts, fmt.Errorf("--from: expected one of %s, found %q", strings.Join(importers.Names(), ", "), i.from)
		}
		opts.From = source
	}
	for _, setting := range i.config {
		key, value, ok := strings.Cut(setting, "=")
		if !ok {
			return opts, fmt.Errorf("--config: expected KEY=VALUE, found %q", setting)
		}
		opts.Config = append(opts.Config, histories.Setting{Key: key, Value: value})
	}
	return opts, nil
}

// isNew refuses an output that is the recording, or is there already and not to
// be replaced.
func (i *importing) isNew(recording string) error {
	if i.to == "" {
		return nil
	}
	if err := apart([]output{{"--output", i.to}}, recording); err != nil {
		return err
	}
	return fileIsNew(i.to, i.force)
}

func (i *importing) run(ctx context.Context, name string, opts importers.Options) error {
	r, err := i.app.load(ctx, name, opts)
	if err != nil {
		return err
	}
	if r.Source == "" {
		return fmt.Errorf("%s: expected a recording of %s; this is a history already: check convert rewrites it", label(name), strings.Join(importers.Names(), ", "))
	}
	if i.to != "" {
		if err := r.WriteFileContext(ctx, i.to); err != nil {
			return err
		}
	}
	i.app.tellLost(name, r)
	switch out := (jsonImported{i.to, r.Source, len(r.Ops()), len(r.Marks()), append([]string{}, r.Untranslated...), ""}); {
	case i.json && i.to == "":
		out.History = string(r.AppendNotation(nil))
		fallthrough
	case i.json:
		i.app.encode(out)
	case i.to == "":
		i.app.out.Write(r.AppendNotation(nil))
	default:
		fmt.Fprintf(i.app.out, "%s: %s, %s, of a recording of %s\n", label(i.to), count(len(r.Ops()), "operation"), count(len(r.Marks()), "mark"), r.Source)
	}
	return nil
}

// tellLost says what of a recording is not in its history.
func (a *app) tellLost(name string, r *importers.Recording) {
	for _, l := range r.Untranslated {
		fmt.Fprintf(a.err, "check: %s: not translated: %s\n", label(name), l)
	}
}

// jsonImported is the JSON of an import. Names are part of the command line's
// contract.
type jsonImported struct {
	File         string   `json:"file"`              // that was written, empty if none was
	Source       string   `json:"source"`            // the tool that recorded
	Operations   int      `json:"operations"`        // of the history
	Marks        int      `json:"marks"`             // faults, and what clients said of themselves
	Untranslated []string `json:"untranslated"`      // what of the recording the history does not say
	History      string   `json:"history,omitempty"` // in the notation, if no file was written
}
