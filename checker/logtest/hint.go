package logtest

import (
	"fmt"

	"github.com/isrcheck/isrcheck/histories"
)

// hint names a likely mistake of the driver, "" for none: offsets that count bytes
// are what a [Log] must not have, and look like lost records.
func (f *Failure) hint() string {
	if f.History == nil {
		return ""
	}
	ops := f.History.Ops()
	type place struct {
		on    string
		value histories.Value
	}
	at := map[place]int64{}
	for _, o := range ops {
		for _, r := range o.Records {
			at[place{o.On, r.Value}] = r.Offset
		}
	}
	for _, o := range ops {
		if o.Kind != histories.Send || o.Outcome != histories.OK || o.Offset < 0 || len(o.Values) < 2 {
			continue
		}
		first, seen := at[place{o.On, o.Values[0]}]
		second, also := at[place{o.On, o.Values[1]}]
		if seen && also && first == o.Offset && second > first+1 {
			return fmt.Sprintf("the records of one batch were read at offsets %d and %d: a Log's offsets count records, and those of a batch follow one another", first, second)
		}
	}
	return ""
}
