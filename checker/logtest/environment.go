package logtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
)

// fromEnvironment lets variables stand for the number of runs and the seed where
// the options leave them out, and returns those that did, as a shell sets them:
// a command that is to do the same needs them too.
func (o *Options) fromEnvironment(runs int) (variables string, err error) {
	if o.Runs == 0 {
		n, set, err := environment("ISRCHECK_RUNS", uint64(runs), 1, 31)
		if err != nil {
			return "", err
		}
		o.Runs, variables = int(n), variables+set
	}
	if o.Seed == 0 {
		n, set, err := environment("ISRCHECK_SEED", 1, 0, 64)
		if err != nil {
			return "", err
		}
		o.Seed, variables = n, variables+set
	}
	return variables, nil
}

// environment reads a number. What set it is returned with a blank behind it.
func environment(key string, otherwise, least uint64, bits int) (n uint64, set string, err error) {
	text := os.Getenv(key)
	if text == "" {
		return otherwise, "", nil
	}
	n, err = strconv.ParseUint(text, 10, bits)
	if err != nil || n < least {
		return 0, "", fmt.Errorf("%s: expected a number from %d on and below 2^%d, found %q", key, least, bits, text)
	}
	return n, fmt.Sprintf("%s=%d ", key, n), nil
}

// again is the command that runs the test alone and draws the same, "" outside
// go test.
func (s *suite) again() string {
	if s.rerun == "" {
		return ""
	}
	return s.variables + s.rerun
}

// command is what runs one test alone, from any folder of its module, built as it
// is now.
func command(test, tested string) string {
	words := []string{"go test -count=1"}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "-race" && s.Value == "true":
				words = append(words, "-race")
			case s.Key == "-tags":
				words = append(words, quoted("-tags="+s.Value))
			}
		}
	}
	words = append(words, "-run "+quoted(checker.RunPattern(test)))
	if tested != "" {
		words = append(words, quoted(tested))
	}
	return strings.Join(words, " ")
}

// tested is the path of the package under test, "" where go test was given files.
func tested() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Path == "command-line-arguments.test" {
		return ""
	}
	return strings.TrimSuffix(info.Path, ".test")
}

// fromAnywhere is a path for a command that is typed in another folder.
func fromAnywhere(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return quoted(path)
}

// quoted is a word for a POSIX shell.
func quoted(word string) string {
	if !regexp.MustCompile(`[^\w/.@%+=:,-]`).MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
