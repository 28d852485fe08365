package main

import (
	"fmt"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
)

// Of losses a sentence tells so many, and of one producer's so many places: where
// there are more they are told of together.
const (
	maxLosses  = 6
	maxPlaces  = 2
	somePlaces = 3 // of which the values are told
)

// losses says where among the records of each producer the lost ones are: of each
// partition for itself, which is named if there are several.
func losses(r *checker.Result) string {
	var parts []string
	for rest := r.Lost; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Partition == rest[0].Partition && rest[n].Producer == rest[0].Producer {
			n++
		}
		where := ""
		if r.Exercised.Partitions > 1 {
			where = " in " + clip(label(rest[0].Partition), nameWidth)
		}
		if n > maxPlaces {
			parts = append(parts, scattered(rest[:n], where))
		} else {
			for _, l := range rest[:n] {
				parts = append(parts, stretch(l, where))
			}
		}
		rest = rest[n:]
	}
	if left := len(parts) - maxLosses; left > 0 {
		parts = append(parts[:maxLosses], fmt.Sprintf("and %s more like these", number(left)))
	}
	return strings.Join(parts, "; ")
}

// stretch says of a loss which part of its producer's records it is.
func stretch(l checker.Loss, where string) string {
	producer := clip(label(l.Producer), nameWidth)
	of, which := producer+"'s "+count(l.Of, "record"), where+" ("+valuesOf(l)+")"
	switch {
	case l.Part == "all" && l.Of == 1:
		return "the only record of " + producer + which
	case l.Part == "all":
		return "all of " + of + which
	case l.Part == "middle":
		return number(l.Lost) + " from the middle of " + of + which
	case l.Lost == 1:
		return "the " + l.Part + " of " + of + which
	}
	return "the " + l.Part + " " + number(l.Lost) + " of " + of + which
}

// scattered tells of the losses of one producer together.
func scattered(all []checker.Loss, where string) string {
	lost := 0
	for _, l := range all {
		lost += l.Lost
	}
	var which []string
	for _, l := range all[:min(len(all), somePlaces)] {
		which = append(which, valuesOf(l))
	}
	if len(all) > somePlaces {
		which = append(which, "...")
	}
	return fmt.Sprintf("%s of %s's %s%s, in %s (%s)", number(lost), clip(label(all[0].Producer), nameWidth), count(all[0].Of, "record"), where,
		count(len(all), "place"), strings.Join(which, ", "))
}

func valuesOf(l checker.Loss) string {
	values := clip(l.First.String(), nameWidth)
	if l.Lost > 1 {
		values += " to " + clip(l.Last.String(), nameWidth)
	}
	return values
}
