package impl

// An arena is memory for many lists, which is taken back from all of them at once,
// when a [Runner] begins another run. A nil one makes lists that stay.
type arena[T any] struct{ block []T }

// leastBlock is how many elements an arena asks for at least.
const leastBlock = 256

// grown returns a list with room for n more elements: the same, or a copy.
func (a *arena[T]) grown(list []T, n int) []T {
	if cap(list)-len(list) >= n {
		return list
	}
	room := len(list) + max(n, len(list))
	if a == nil {
		return append(make([]T, 0, room), list...)
	}
	from := len(a.block)
	if cap(a.block)-from < room {
		a.block, from = make([]T, 0, max(room, 2*cap(a.block), leastBlock)), 0
	}
	a.block = a.block[:from+room]
	return append(a.block[from:from:from+room], list...)
}

// reset takes all memory back.
func (a *arena[T]) reset() { a.block = a.block[:0] }
