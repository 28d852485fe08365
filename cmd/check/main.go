// Check is the command line of isrcheck: flags, output and exit codes around
// the packages that do the work. Run "check help" for its commands.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A reader that leaves early, as head does, must not end the run: the exit
	// code is still owed.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
