package importers

import "github.com/isrcheck/isrcheck/histories"

// A dictionary cuts text into the words it was put together from.
type dictionary struct{ root node }

// A node is a place in a tree of words.
type node struct {
	next map[byte]*node
	ends bool // a word ends here
}

// newDictionary holds what was written to a key.
func newDictionary(ops []*kvOp) *dictionary {
	d := &dictionary{}
	for _, o := range ops {
		if o.f != "get" && o.value != "" {
			d.add(o.value)
		}
	}
	return d
}

func (d *dictionary) add(word string) {
	n := &d.root
	for i := range len(word) {
		if n.next == nil {
			n.next = map[byte]*node{}
		}
		if n.next[word[i]] == nil {
			n.next[word[i]] = &node{}
		}
		n = n.next[word[i]]
	}
	n.ends = true
}

// read makes the answer of a read of the whole log out of its text. It reports
// false if the text can be cut into words in more than one way. If it cannot be
// cut at all, what is behind the last word is a record that nobody wrote.
func (d *dictionary) read(s string, op *histories.Op) bool {
	ways, ok := d.ways(s)
	if !ok || ways[0] > 1 {
		return false
	}
	for at := 0; at < len(s); {
		n := len(s) - at
		ends, _ := d.ends(s[at:])
		for _, length := range ends {
			if ways[0] == 0 || ways[at+length] == 1 {
				n = length
			}
		}
		op.Records = append(op.Records, histories.Record{Offset: int64(len(op.Records)), Value: histories.String(s[at : at+n])})
		at += n
	}
	if ways[0] == 1 {
		op.HW = int64(len(op.Records))
	}
	return true
}

// ways returns in how many ways what is behind each place of a text can be cut
// into words: 0, 1, or 2 for several. It reports false if that takes too long,
// which it does where many words begin alike.
func (d *dictionary) ways(s string) ([]uint8, bool) {
	ways := make([]uint8, len(s)+1)
	ways[len(s)] = 1
	budget := 1<<20 + 64*len(s)
	for at := len(s) - 1; at >= 0; at-- {
		ends, looked := d.ends(s[at:])
		for _, length := range ends {
			ways[at] = min(ways[at]+ways[at+length], 2)
		}
		if budget -= looked; budget < 0 {
			return nil, false
		}
	}
	return ways, true
}

// ends returns the lengths of the words that a text begins with, and how many
// bytes it looked at.
func (d *dictionary) ends(s string) (lengths []int, looked int) {
	n := &d.root
	for looked < len(s) {
		if n = n.next[s[looked]]; n == nil {
			break
		}
		if looked++; n.ends {
			lengths = append(lengths, looked)
		}
	}
	return lengths, looked
}
