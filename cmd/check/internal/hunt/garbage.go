package hunt

import (
	"os"
	"runtime/debug"
)

// garbagePercent is how much a hunt may allocate between two collections, in
// percent of what is in use. That is little: what a run leaves is garbage once its
// batch was looked at. Go's default of 100 collects every few dozen schedules and
// takes a seventh of the time, 400 a twentieth more than this, with which a hunt
// has some 140 MB.
const garbagePercent = 1000

// collectSeldom makes collections rare until the function that it returns is
// called, unless somebody said by the variable GOGC how often they are to be.
func collectSeldom() (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(garbagePercent)
	return func() { debug.SetGCPercent(before) }
}
