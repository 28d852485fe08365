package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/histories"
)

// The exit codes of the history format.
const (
	exitOK        = 0
	exitViolation = 1
	exitInput     = 2 // usage, or an input that cannot be read
	exitUnknown   = 3
	exitInternal  = 4 // a bug of the checker
)

// exitInterrupted is what shells expect of a command that an interrupt ended,
// and here as well of one that was asked to terminate.
const exitInterrupted = 130

// severity orders the exit codes: of several results the first of these that
// occurred is the exit code of all.
var severity = []int{exitViolation, exitInternal, exitInput, exitUnknown, exitOK}

// An app is one call of the command line. Results go to out, everything else
// to err.
type app struct {
	in   io.Reader
	out  *results
	err  io.Writer
	ink  ink
	exit int
	file string // the one that was read last

	variables []string // of the environment that set a flag

	limit histories.Limit // of the histories that are read
}

// run executes the command line and returns its exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{in: stdin, out: &results{to: visible{stdout}}, err: visible{stderr}, ink: inkFor(stdout)}
	a.execute(args)
	if a.out.failed != nil {
		a.fail(exitInput, fmt.Errorf("results are lost: %w", a.out.failed))
		a.exit = exitInput // whatever they were: who reads them has none
	} else if a.out.wrote && discards(stdout) {
		fmt.Fprintf(a.err, "check: results go nowhere: stdout is closed, or %s; all that is left is the exit code, %d\n", os.DevNull, a.exit)
	}
	return a.exit
}

func (a *app) execute(args []string) {
	defer a.catch()
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	completion(root)
	cmd, err := root.ExecuteC()
	if err == nil && !cmd.Runnable() && cmd.Flags().NArg() > 0 { // a page, which cobra shows whatever follows
		err = fmt.Errorf("unknown command %q for %q", cmd.Flags().Arg(0), cmd.CommandPath())
	}
	if err != nil {
		a.fail(exitInput, a.blame(err))
		fmt.Fprintf(a.err, "Run '%s --help' for usage.\n", cmd.CommandPath())
	}
}

// root assembles the commands. A command returns an error only for wrong
// usage; what goes wrong later it reports by fail.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "check",
		Short: "Find the message a replicated log lost",
		Long: "check judges what the clients of a Kafka-style replicated log saw: is it legal for\n" +
			"the settings they used, and if not, which few operations prove it. Without a command it\n" +
			"runs the demo.",
		Version:       build().String(),
		SilenceErrors: true,
		SilenceUsage:  true,

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return cmp.Or(a.fromEnvironment(cmd), noDash(cmd))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			demo := a.demo()
			return demo.RunE(demo, args)
		},
	}
	root.AddCommand(a.demo(), a.verify(), a.explain(), a.report(), a.run(), a.replay(), a.bugs(), a.minimize(), a.record(), a.live(), a.gate(), a.merge(), a.matrix(), a.convert(), a.importing(), a.version(), a.man())
	root.AddCommand(topics()...)
	root.AddCommand(environment(root))
	root.SetHelpCommand(a.help())
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetUsageTemplate(root.UsageTemplate() + "{{if and .Runnable .HasAvailableLocalFlags}}\nVariables set flags as well (see '{{.Root.Name}} help environment').\n{{end}}")
	complete(root)
	sayUses(root)
	return root
}

// help replaces the command of that name that comes with cobra, for which an
// unknown topic is no error.
func (a *app) help() *cobra.Command {
	return &cobra.Command{
		Use:               "help [COMMAND|TOPIC]",
		Short:             "Help about a command or a topic",
		Long:              "help shows the page of a command or of a topic; without either, the list of both.",
		Example:           "  check help format",
		ValidArgsFunction: completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			page, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				var names []string
				for _, c := range cmd.Root().Commands() {
					names = append(names, c.Name())
				}
				return fmt.Errorf("unknown help topic %q%s ('check help' lists them all)", strings.Join(args, " "), didYouMean(args[0], names))
			}
			page.InitDefaultHelpFlag()
			return page.Help()
		},
	}
}

// worsen makes the code the exit code unless a graver one occurred before.
func (a *app) worsen(code int) {
	if slices.Index(severity, code) < slices.Index(severity, a.exit) {
		a.exit = code
	}
}

// fail says what went wrong on stderr.
func (a *app) fail(code int, err error) {
	fmt.Fprintf(a.err, "check: %v\n", err)
	a.worsen(code)
}

// failOrStop says what went wrong, which was no fault of the input if the context
// has ended.
func (a *app) failOrStop(ctx context.Context, err error) {
	if ctx.Err() == nil {
		a.fail(exitInput, err)
		return
	}
	fmt.Fprintln(a.err, "check: interrupted; nothing was written")
	a.exit = exitInterrupted
}

// catch, deferred, turns a panic into an internal error.
func (a *app) catch() {
	if p := recover(); p != nil {
		a.err.Write(debug.Stack())
		a.reportBug(fmt.Sprintf("panic: %v", p), a.file)
	}
}

// reportBug asks for a report of a bug of this program, together with the file
// that brought it to light, if there is one.
func (a *app) reportBug(what, file string) {
	a.fail(exitInternal, fmt.Errorf("internal error: %s", what))
	if file != "" {
		file = " with " + label(file)
	}
	fmt.Fprintf(a.err, "This is a bug of the checker. Please report it%s and what 'check version' says:\n%s\n", file, issues)
}

const issues = "https://github.com/isrcheck/isrcheck/issues"

// results is where results go. Once nobody reads them any more they are
// dropped in silence; any other failure is kept, for results that a full disk
// swallowed must not look like a success.
type results struct {
	to     io.Writer
	wrote  bool
	closed bool
	failed error
}

func (r *results) Write(p []byte) (int, error) {
	r.wrote = true
	if !r.closed {
		if _, err := r.to.Write(p); err != nil {
			r.closed = true
			if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, io.ErrClosedPipe) {
				r.failed = err
			}
		}
	}
	return len(p), nil
}

// discards reports whether output that was closed before the program began is
// where results go: Go puts the null device there, open for reading as well,
// which no shell does that was asked to discard. Some programs do (Python's
// DEVNULL), so that this is worth a word and not an exit code.
func discards(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	null, also := os.Stat(os.DevNull)
	if err != nil || also != nil || !os.SameFile(info, null) {
		return false
	}
	_, err = f.Read(make([]byte, 1))
	return err == io.EOF
}
