package histories

import (
	"bytes"
)

// mark reads what stands behind the time of a mark.
func (c *cursor) mark(m *Mark) {
	start := c.pos
	switch word := c.word("nemesis or client"); word {
	case "nemesis":
		c.gap()
		if m.Text = c.rest(); m.Text == "" {
			c.expected("a fault, in words")
		}
	case "client":
		c.gap()
		c.client(m)
	default:
		c.fail(start, "expected nemesis or client, found %s (an operation has two times: CALL-RETURN, or CALL- if it never completed)", excerpt(word))
	}
}

// client reads a process and its marker.
func (c *cursor) client(m *Mark) {
	start := c.pos
	m.Process = c.word("a process")
	if err := CheckProcess(m.Process); err != nil {
		c.fail(start, "%v", err)
	}
	c.gap()
	c.marker(m)
}

// marker reads what a client did beside its operations.
func (c *cursor) marker(m *Mark) {
	start := c.pos
	word := c.word("a marker")
	c.gap()
	switch word {
	case "reset":
		m.Kind = Reset
		if b := c.peek(); b == 'l' || b == 'e' {
			at := c.pos
			if m.To = c.word("latest"); m.To != "latest" && m.To != "earliest" {
				c.fail(at, "expected an offset, latest or earliest, found %s", excerpt(m.To))
			}
		} else {
			m.Offset = c.natural("an offset, latest or earliest")
		}
		c.gap()
	case "assigned":
		m.Kind = Assigned
		if !bytes.HasPrefix(c.text[c.pos:], []byte("from=")) {
			c.expected("from=N")
			return
		}
		c.pos += len("from=")
		m.Offset = c.natural("an offset")
		c.gap()
	case "revoked":
		m.Kind = Revoked
	case "crash":
		m.Kind = Crash
	case "note":
		m.Kind = Note
		if m.Text = c.rest(); m.Text == "" {
			c.expected("a text")
		}
		return
	default:
		c.fail(start, "unknown marker %s; expected one of reset, revoked, assigned, crash, note", excerpt(word))
		return
	}
	c.markerPartition(m)
}

func (c *cursor) markerPartition(m *Mark) {
	if c.done() {
		return
	}
	if !bytes.HasPrefix(c.text[c.pos:], []byte("on=")) {
		c.expected("on=TOPIC/PARTITION or the end of the line")
		return
	}
	c.pos += len("on=")
	start := c.pos
	m.On = c.word("TOPIC/PARTITION")
	if err := checkPartition(m.On); err != nil {
		c.fail(start, "%v", err)
	}
	c.gap()
	if !c.done() {
		c.expected("the end of the line")
	}
}
