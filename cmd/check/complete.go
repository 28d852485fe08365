package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories/importers"
	"github.com/isrcheck/isrcheck/impl"
	"github.com/isrcheck/isrcheck/impl/kafka"
)

// complete tells shells which arguments and flags there are names for. A flag is
// completed alike in every command that has it.
func complete(root *cobra.Command) {
	arguments := map[string]cobra.CompletionFunc{
		"verify":   completeHistories,
		"convert":  onlyFirst(completeHistories),
		"explain":  onlyFirst(completeHistories),
		"minimize": onlyFirst(completeHistories),
		"report":   onlyFirst(completeHistories),
		"replay":   onlyFirst(completeReplay),
		"merge":    cobra.FixedCompletions([]cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	values := map[string]cobra.CompletionFunc{
		"bug":            cobra.FixedCompletions(bugNames(), cobra.ShellCompDirectiveNoFileComp),
		"from":           cobra.FixedCompletions(importers.Names(), cobra.ShellCompDirectiveNoFileComp),
		"engine":         cobra.FixedCompletions(slices.Clone(checker.Engines), cobra.ShellCompDirectiveNoFileComp),
		"reads":          cobra.FixedCompletions([]cobra.Completion{"committed", "linearizable"}, cobra.ShellCompDirectiveNoFileComp),
		"unknown":        cobra.FixedCompletions([]cobra.Completion{"fail", "pass"}, cobra.ShellCompDirectiveNoFileComp),
		"set":            completeSetting,
		"acks":           cobra.FixedCompletions([]cobra.Completion{"all", "1", "0"}, cobra.ShellCompDirectiveNoFileComp),
		"isolation":      cobra.FixedCompletions([]cobra.Completion{"read_uncommitted", "read_committed"}, cobra.ShellCompDirectiveNoFileComp),
		"sasl-mechanism": cobra.FixedCompletions(slices.Clone(kafka.Mechanisms), cobra.ShellCompDirectiveNoFileComp),
		"corpus":         cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	for _, cmd := range root.Commands() {
		cmd.ValidArgsFunction = arguments[cmd.Name()]
		for name, complete := range values {
			if cmd.Flags().Lookup(name) == nil {
				continue
			}
			if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
				panic(err) // the flag is there, and registered once
			}
		}
	}
}

// onlyFirst completes the first argument, and no other.
func onlyFirst(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, typed)
	}
}

// bugNames are the seeded bugs, each with the reference it is known by.
func bugNames() []cobra.Completion {
	names := make([]cobra.Completion, len(impl.Bugs))
	for i, b := range impl.Bugs {
		names[i] = cobra.CompletionWithDesc(b.Name, b.Reference)
	}
	return names
}

// completeSetting completes KEY=VALUE, the key first.
func completeSetting(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	key, _, valued := strings.Cut(typed, "=")
	for _, s := range impl.Settings {
		switch {
		case !valued:
			out = append(out, s.Name+"=")
		case s.Name == key:
			for _, value := range s.Values {
				out = append(out, key+"="+value)
			}
		}
	}
	if valued {
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeHistories completes files whose names are those of histories, and the
// folders on the way to them.
func completeHistories(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{"hist", "jsonl", "jsonl.gz", "jsonl.zst", "hist.gz", "hist.zst"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeReplay completes the seeded bugs and the scenarios, and files of any name: a schedule may
// have any.
func completeReplay(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return append(bugNames(), impl.Scenarios()...), cobra.ShellCompDirectiveDefault
}

// completeHelp completes what there is a page about.
func completeHelp(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	if page, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
		for _, c := range page.Commands() {
			if !c.Hidden {
				out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
