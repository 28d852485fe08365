package main

import (
	"fmt"
	"os"
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

// fromEnvironment sets the flags that were not typed to what their variables
// say. An empty variable says nothing.
func (a *app) fromEnvironment(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || flag.Name == "help" || err != nil {
			return
		}
		for _, name := range variables(cmd, flag) {
			if text := os.Getenv(name); text != "" {
				a.variables = append(a.variables, name)
				err = setAll(cmd.Flags(), flag, text)
				return
			}
		}
	})
	return err
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

` + table(rows) + `

NO_COLOR keeps the output plain on terminals, too.`}
}
