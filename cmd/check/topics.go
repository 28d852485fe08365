package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/impl"
	"github.com/isrcheck/isrcheck/impl/kafka/nemesis"
)

// topics are the pages of "check help" that belong to no command.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Aliases: []string{"verdicts"}, Short: "What the verdicts and the exit codes mean", Long: exitCodes},
		{Use: "format", Aliases: []string{"history", "history-format"}, Short: "How to write a history", Long: format()},
		{Use: "anomalies", Aliases: []string{"anomaly", "findings"}, Short: "The names of findings", Long: anomalies()},
		{Use: "settings", Short: "What the header of a history may state", Long: settings()},
		{Use: "schedule", Short: "How to write a schedule, and what a cluster may be set to", Long: schedules()},
		{Use: "faults", Aliases: []string{"fault", "nemesis"}, Short: "What can go wrong in a schedule", Long: faultsHelp()},
		{Use: "live-faults", Short: "What can go wrong with a live cluster, by --nemesis", Long: liveFaultsHelp()},
		{Use: "scenarios", Aliases: []string{"scenario"}, Short: "Schedules that tell a story, and how to write one", Long: scenarios()},
	}
}

const exitCodes = `0  ok           the history is legal (allowed findings are listed)
1  violation    clients saw what they must not see
2  input error  wrong usage, or an input that cannot be read
3  unknown      a budget ran out, or the evidence is too thin
4  error        the checker contradicts itself: a bug, please report it

Several files are judged each for itself; the exit code is the first of 1, 4, 2, 3, 0
that occurred. With --expect, 0 says that every file has the verdict it documents.
For replay, 0 says that the run is the one that was saved, and 1 that it is not; for a
scenario, 0 says that all it expects holds, and 1 that something does not.
What an interrupt or SIGTERM ended before it had a result exits with 130.`

// scheduleExample is a schedule that the page about schedules shows.
const scheduleExample = `set min.insync.replicas=2
20 P1 send 1,2
25 nemesis crash broker=1 for=40
30 C1 poll
60 P1 send 3 acks=1
`

// schedules says how to write one.
func schedules() string {
	var settings, verbs [][]string
	for _, s := range impl.Settings {
		value := s.Default
		if len(s.Values) > 0 {
			value = strings.Join(s.Values, " ")
		}
		settings = append(settings, []string{s.Name, value, s.Says})
	}
	for _, v := range impl.ClientVerbs {
		verbs = append(verbs, []string{call(v.Verb, v.Words, v.Args), v.Says})
	}
	return `A schedule is the whole cause of a run: settings, bugs that are switched on, and steps
at times in milliseconds. Run one with 'check replay FILE':

` + indent(scheduleExample) + `
A step that does not apply when its time comes does nothing. When the steps and faults
are over, the whole log is read once more. A client's step:

` + indent(table(verbs)) + `

A fault's step is "TIME nemesis FAULT ..." (see 'check help faults'); "bug NAME" switches
a bug on (see 'check bugs'). Settings, with their default first:

` + indent(table(settings))
}

func faultsHelp() string {
	var rows [][]string
	var kinds []string // of messages
	for _, f := range impl.Faults {
		rows = append(rows, []string{call(f.Verb, "", f.Args), f.Says})
		for _, a := range f.Args {
			kinds = append(kinds, a.Values...)
		}
	}
	slices.Sort(kinds)
	var moments, roles [][]string
	for _, m := range impl.Moments {
		moments = append(moments, []string{m.Name, m.Says})
	}
	for _, r := range impl.Roles {
		roles = append(roles, []string{r.Name, r.Says})
	}
	return "Steps of a schedule, as \"TIME nemesis FAULT ARGUMENTS\". Times are milliseconds; broker=N\n" +
		"counts from 1; a node is a broker's number or controller. KIND is one of\n" +
		strings.Join(slices.Compact(kinds), ", ") + "\n(a fault that cannot take one says so).\n\n" + table(rows) + `

A broker's number may be a role instead: who has it when the fault strikes, in the
partition that the fault names, or in the first.

` + indent(table(roles)) + `

A fault strikes when its time comes. With when=MOMENT it lies in wait from then on, and
strikes when that moment comes, or never if it does not come within so many milliseconds
(within=MS, 1000 by default); with of=N as well, when it comes and is about that broker.
With times=N it strikes up to so often, each time that there is something to strike:

` + indent(table(moments))
}

func liveFaultsHelp() string {
	var rows [][]string
	for _, f := range nemesis.Faults() {
		rows = append(rows, []string{f.Name, f.Says, "needs " + f.Needs})
	}
	return `record and live inject the faults that --nemesis lists, one after the other: each begins
--nemesis-interval after the one before it, and lasts a quarter to three quarters of
that. Which one, where and how long is drawn from --nemesis-seed, which is in the
recording, as are the begin and the end of every fault. All are ended before the
partitions are read, after an interrupt as well. A fault listed twice comes twice as often.
With --local, a fault waits until all replicas are in sync; --nemesis '' injects none there.

` + table(rows) + `

A broker's process is one of this machine. With --broker-cmd alone, the command is run
for the recording, in the foreground: what runs is the broker, and it ends with the
recording. A broker that runs already is told by --broker-pid, by its number or by a
file that has it, and goes on running afterwards; to kill or stop it, say by --broker-cmd
how it is started again. What a command prints is lost unless it writes it to a file; the
last line on its standard error is told if it ends before the broker answers.

   --broker-cmd 1='exec kafka-server-start.sh 1.properties >1.log 2>&1'
   --broker-pid 1=/run/kafka.pid --broker-cmd 1='systemctl start kafka'

A link goes through --proxy FROM:TO=LISTEN,UPSTREAM if whoever stands for FROM connects
to LISTEN to reach TO. Brokers tell in advertised.listeners where they are to be reached:

   --proxy clients:1=localhost:19092,localhost:9092

For Kafka on this machine with all of that set up, say --local.`
}

// scenarios lists those there are, and says how to write another.
func scenarios() string {
	var rows [][]string
	for _, name := range impl.Scenarios() {
		text, err := impl.ScenarioText(name)
		if err != nil {
			panic(err) // it is there, for it was listed
		}
		rows = append(rows, []string{name, opening(string(text))})
	}
	return `A scenario is a schedule (see 'check help schedule') in parts, each of which says how far
to run and what is expected then. Run one with 'check replay NAME', or your own with
'check replay FILE':

` + table(rows) + `

The lines that a schedule does not have:

   run to=MS                       everything that is due before that time
   run until KEY=VALUE within=MS   until that holds, for at most so long
   expect KEY=VALUE                leader, epoch, isr, elr, hw or leo; after broker=N
                                   state, fenced, role, epoch, hw, leo or log
   expect TEXT                     what happened in this part has a line with these words,
                                   whole ones and such as there are
   check                           in the last part: run to the end, and judge
   expect ok                       the verdict, below check; or unknown, violation [NAME,...]
                                   or allowed [NAME,...]
   expect not ...                  that KEY=VALUE does not hold, TEXT is in no line, or the
                                   verdict is not that or has none of the names
   ----                            the end of a part; replay writes below what happened,
                                   down to a blank line`
}

// opening is the first line of a text, a comment, with dots where its sentence
// goes on.
func opening(text string) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	if !strings.HasSuffix(line, ".") && !strings.HasSuffix(line, "?") {
		line += " ..."
	}
	return line
}

// call is how a verb is written with its arguments.
func call(verb, words string, args []impl.ArgSpec) string {
	text := strings.TrimSpace(verb + " " + words)
	for _, a := range args {
		arg := a.Key + "=" + argument(a)
		if a.Optional {
			arg = "[" + arg + "]"
		}
		text += " " + arg
	}
	return text
}

func argument(a impl.ArgSpec) string {
	switch {
	case len(a.Values) > 3:
		return strings.ToUpper(a.Key)
	case len(a.Values) > 0:
		return strings.Join(a.Values, "|")
	case a.Kind == impl.NodeArg:
		return "NODE"
	case a.Kind == impl.DurationArg:
		return "MS"
	case a.Kind == impl.ClientArg:
		return "CLIENT"
	}
	return "N"
}

func anomalies() string {
	rows := make([][]string, len(histories.Anomalies))
	for i, a := range histories.Anomalies {
		rows[i] = []string{a.Name, a.Condition}
	}
	return table(rows)
}

func settings() string {
	rows := make([][]string, len(histories.ConfigKeys))
	for i, k := range histories.ConfigKeys {
		rows[i] = []string{k.Name, values(k), k.Says}
	}
	rows = append(rows,
		[]string{"isolation.level.P", "as isolation.level", "the same for the process P alone"},
		[]string{"x-...", "any text", "nothing: for whoever wrote the history"})
	return "The header of a history states settings as \"config KEY=VALUE ...\" (\"config\":{\"KEY\":\"VALUE\"} in\n" +
		".jsonl). A key that is absent has its default, which comes first here.\n\n" + table(rows)
}

func values(k histories.ConfigKey) string {
	switch {
	case k.List:
		return "names, comma separated"
	case k.Integer && len(k.Values) > 0:
		return k.Values[0] + ", or another integer"
	case k.Integer:
		return "an integer"
	}
	return strings.Join(k.Values, " ")
}

func table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
