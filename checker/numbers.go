package checker

// numbers gives processes numbers, from 0, in the order in which they are first
// named. A history names few, again and again: most are found without hashing.
type numbers struct {
	byName map[string]int
	recent [64]numbered
}

type numbered struct {
	name   string
	number int
}

func newNumbers() *numbers { return &numbers{byName: map[string]int{}} }

// of returns the number of a process.
func (n *numbers) of(name string) int {
	place := len(name)
	if place > 1 { // names differ in their last letters, as a rule
		place += int(name[place-1]) + 10*int(name[place-2])
	}
	r := &n.recent[place%len(n.recent)]
	if r.name == name && name != "" {
		return r.number
	}
	number, ok := n.byName[name]
	if !ok {
		number = len(n.byName)
		n.byName[name] = number
	}
	*r = numbered{name, number}
	return number
}
