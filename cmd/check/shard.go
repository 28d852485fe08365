package main

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// A shard is one of several shares of the work, counted from 1.
type shard struct{ number, of int }

// mostShards is more than anybody has machines for.
const mostShards = 10_000

// Set reads "i/n".
func (s *shard) Set(text string) error {
	number, of, _ := strings.Cut(text, "/")
	i, err := strconv.Atoi(number)
	n, also := strconv.Atoi(of)
	if err != nil || also != nil || i < 1 || i > n || n > mostShards {
		return fmt.Errorf("expected i/n, with i from 1 to n and n of %d at most", mostShards)
	}
	*s = shard{i, n}
	return nil
}

func (s *shard) String() string { return fmt.Sprintf("%d/%d", s.number, s.of) }

func (s *shard) Type() string { return "i/n" }

// has reports whether the item at that index belongs to the shard.
func (s *shard) has(index int) bool { return index%s.of == s.number-1 }

// share is how many of so many items belong to the shard.
func (s *shard) share(all int) int { return (all + s.of - s.number) / s.of }

// span is the shard's part of so many in a row.
func (s *shard) span(all int) (first, count int) {
	first = all * (s.number - 1) / s.of
	return first, all*s.number/s.of - first
}

// chunk is how many schedules in a row a shard takes of those that never end.
const chunk = 1024

// spans yields what the shard has of so many in a row, or of what never ends if
// all is 0: shards of any speed then draw different schedules.
func (s *shard) spans(all int) iter.Seq2[int, int] {
	return func(yield func(first, count int) bool) {
		if all > 0 {
			yield(s.span(all))
			return
		}
		for i := s.number - 1; yield(i*chunk, chunk); i += s.of {
		}
	}
}
