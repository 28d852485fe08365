package checker

// A workshop makes what a partition holds many of.
type workshop struct {
	sends   slab[send]
	reads   slab[read]
	records slab[record]
	sent    slab[[1]*send]   // of values that were sent once
	places  slab[[1]*record] // of values that are at one offset
}

// A slab allocates many small things at once.
type slab[T any] struct{ rest []T }

func (s *slab[T]) new() *T {
	if len(s.rest) == 0 {
		s.rest = make([]T, 32)
	}
	x := &s.rest[0]
	s.rest = s.rest[1:]
	return x
}

// with appends to a list that seldom has more than one element.
func with[T any](list []*T, x *T, singles *slab[[1]*T]) []*T {
	if list != nil {
		return append(list, x)
	}
	only := singles.new()
	only[0] = x
	return only[:]
}
