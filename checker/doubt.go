package checker

import "fmt"

// A doubt is why the verdict may not be ok.
type doubt struct {
	kind string // see [Result.ReasonKind]
	says string
}

// doubt notes why the verdict may not be ok. What is particular to the history is in
// the arguments, and not in the kind.
func (j *judge) doubt(kind, format string, args ...any) {
	j.unknown = append(j.unknown, doubt{kind, fmt.Sprintf(format, args...)})
}
