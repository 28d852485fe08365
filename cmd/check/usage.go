package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sayUses has each command say what it expects, and what it found, where its
// arguments are too few or too many.
func sayUses(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		accepts := cmd.Args
		if accepts == nil {
			continue
		}
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if accepts(cmd, args) == nil {
				return nil
			}
			found := "no argument"
			if len(args) > 0 {
				found = fmt.Sprintf("%q", args)
			}
			return fmt.Errorf("expected check %s, found %s", cmd.Use, found)
		}
	}
}

// completion makes the command that comes with cobra demand a shell that it knows.
func completion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		var shells []string
		for _, shell := range cmd.Commands() {
			shells = append(shells, shell.Name())
		}
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return fmt.Errorf("unknown shell %q; expected one of %s", args[0], strings.Join(shells, ", "))
		}
	}
}

// noDash refuses - as the name of what is written: for histories it is the
// standard input, and a file of that name is a nuisance.
func noDash(cmd *cobra.Command) (err error) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if slices.Contains([]string{"output", "json", "junit", "html"}, flag.Name) && flag.Value.String() == "-" {
			err = fmt.Errorf("expected a name after --%s, found -; /dev/stdout is one", flag.Name)
		}
	})
	return err
}
