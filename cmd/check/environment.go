package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// prefix begins the names of the environment variables that stand for flags.
const prefix = "ISRCHECK_"

// variables are the environment variables that stand for a flag of a command,
// the one that counts first. The short one is for all commands that have the
// flag, unless it takes another kind of value in one of them.
func variables(cmd *cobra.Command, flag *pflag.Flag) []string {
	_, command, _ := strings.Cut(cmd.CommandPath(), " ")
	names := []string{variable(command + " " + flag.Name)}
	for _, c := range cmd.Root().Commands() {
		if other := c.Flags().Lookup(flag.Name); other != nil && other.Value.Type() != flag.Value.Type() {
			return names
		}
	}
	return append(names, variable(flag.Name))
}

func variable(words string) string {
	return prefix + strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(words))
}

// elsewhere are variables that are not for flags: tests of this project read them.
var elsewhere = []string{"ISRCHECK_BENCH_OPS", "ISRCHECK_BROWSER", "ISRCHECK_HISTORIES", "ISRCHECK_HUNTS", "ISRCHECK_KAFKA", "ISRCHECK_KILLS", "ISRCHECK_MUTANTS", "ISRCHECK_SHOTS"}

// fromEnvironment sets the flags that were not typed to what their variables
// say. An empty variable says nothing, and one that is for no flag is told of.
func (a *app) fromEnvironment(cmd *cobra.Command) (err error) {
	for _, entry := range os.Environ() {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, prefix) && value != "" {
			a.tellUnknown(name, knownVariables(cmd.Root()))
		}
	}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || flag.Name == "help" || flag.Name == "version" || err != nil {
			return
		}
		names := variables(cmd, flag)
		if short := variable(flag.Name); len(names) == 1 && os.Getenv(names[0]) == "" && os.Getenv(short) != "" {
			err = fmt.Errorf("%s may be for this command or for another, in which --%s takes another kind of value; expected %s", short, flag.Name, names[0])
			return
		}
		for _, name := range names {
			if text := os.Getenv(name); text != "" {
				a.variables = append(a.variables, name)
				err = setAll(cmd.Flags(), flag, text)
				return
			}
		}
	})
	a.forgetSecrets(cmd.Root())
	return err
}

// forgetSecrets takes passwords out of the environment, which whatever is started
// from here on would inherit.
func (a *app) forgetSecrets(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if flag := cmd.Flags().Lookup("sasl-password"); flag != nil {
			for _, name := range variables(cmd, flag) {
				os.Unsetenv(name)
			}
		}
	}
}

// tellUnknown says of a variable that is none of the known ones that it does nothing.
func (a *app) tellUnknown(name string, known []string) {
	if slices.Contains(known, name) {
		return
	}
	meant := didYouMean(strings.TrimPrefix(name, prefix), bare(known))
	meant = strings.NewReplacer("expected ", "expected "+prefix, " or ", " or "+prefix).Replace(meant)
	fmt.Fprintf(a.err, "check: %s sets nothing%s (see 'check help environment')\n", label(name), meant)
}

// knownVariables are those that have a meaning in some command.
func knownVariables(root *cobra.Command) []string {
	known := slices.Clone(elsewhere) // logtest's are for flags as well
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Name != "help" {
				known = append(append(known, variables(cmd, flag)...), variable(flag.Name))
			}
		})
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// bare are names without the prefix.
func bare(names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, strings.TrimPrefix(name, prefix))
	}
	return out
}

// setAll sets a flag; one that may be repeated has a value in each line.
func setAll(flags *pflag.FlagSet, flag *pflag.Flag, text string) error {
	values := []string{text}
	if _, ok := flag.Value.(pflag.SliceValue); ok {
		values = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	for _, value := range values {
		if err := flags.Set(flag.Name, value); err != nil {
			return err
		}
	}
	return nil
}

// blame adds to an error of usage the variables that may be its cause.
func (a *app) blame(err error) error {
	if len(a.variables) == 0 {
		return err
	}
	return fmt.Errorf("%w (set in the environment: %s)", err, strings.Join(a.variables, ", "))
}

// environment is the page about variables, which lists those of all commands
// that root has.
func environment(root *cobra.Command) *cobra.Command {
	var rows [][]string
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			rows = append(rows, []string{cmd.Name() + " --" + flag.Name, strings.Join(variables(cmd, flag), " ")})
		})
	}
	return &cobra.Command{Use: "environment", Short: "How to set flags by environment variables", Long: `What a flag sets, a variable sets that is named after the command and the flag, or after
the flag alone, for all commands in which it means the same: for 'check run --seed 7' that
is ISRCHECK_RUN_SEED=7 or ISRCHECK_SEED=7. A flag that is typed goes before both, the longer
name before the shorter, and any before the default. A variable that is empty counts for
nothing, one that is wrong is wrong usage (exit code 2). A switch is true or false. Where a
flag may be repeated, each line of the variable is a value.

A flag that takes another kind of value in another command has the longer name alone; the
shorter is refused. Any other variable that begins with ISRCHECK_ is for no flag, and is told of
on stderr. Package logtest reads ISRCHECK_RUNS and ISRCHECK_SEED.

` + table(rows) + `

NO_COLOR keeps the output plain on terminals, too.`}
}
