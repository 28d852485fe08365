package histories

// The part of JSON that events need, read from one line. A reader of its own
// keeps the order of keys, finds repeated ones, knows the column of everything
// and never turns an integer into a float.

// object reads { "key": value, ... }. member reads each value; start is the
// byte at which its key stands.
func (c *cursor) object(member func(key string, start int)) {
	if !c.take('{') {
		c.expected("a JSON object")
		return
	}
	c.spaces()
	if c.take('}') {
		return
	}
	for {
		start := c.pos
		key := c.quoted("a key in quotes")
		c.spaces()
		if !c.take(':') {
			c.expected(`":"`)
			return
		}
		c.spaces()
		if member(key, start); !c.more('}') {
			return
		}
	}
}

// array reads [ value, ... ]. element reads each value.
func (c *cursor) array(element func()) {
	if !c.take('[') {
		c.expected("a JSON array")
		return
	}
	c.spaces()
	if c.take(']') {
		return
	}
	for element(); c.more(']'); element() {
	}
}

// more reads what stands behind an element: a comma, or the closing bracket.
func (c *cursor) more(closing byte) bool {
	c.spaces()
	if c.take(closing) {
		return false
	}
	if !c.take(',') {
		c.expected(`"," or "` + string(closing) + `"`)
		return false
	}
	c.spaces()
	return c.err == nil
}

// skip reads any value, for fields that mean nothing here.
func (c *cursor) skip(depth int) {
	const deepest = 100
	if depth > deepest {
		c.fail(c.pos, "values are nested more than %d deep", deepest)
		return
	}
	switch b := c.peek(); {
	case b == '{':
		c.object(func(string, int) { c.skip(depth + 1) })
	case b == '[':
		c.array(func() { c.skip(depth + 1) })
	case b == '"':
		c.quoted("a string")
	case c.literal("true"), c.literal("false"), c.literal("null"):
	default:
		c.number()
	}
}

func (c *cursor) literal(word string) bool {
	if end := c.pos + len(word); end <= len(c.text) && string(c.text[c.pos:end]) == word {
		c.pos = end
		return true
	}
	return false
}

// number skips a number of any kind.
func (c *cursor) number() {
	start := c.pos
	c.take('-')
	first := c.pos
	n := c.digits()
	ok := n > 0 && (n == 1 || c.text[first] != '0')
	if c.take('.') {
		ok = c.digits() > 0 && ok
	}
	if c.take('e') || c.take('E') {
		if !c.take('+') {
			c.take('-')
		}
		ok = c.digits() > 0 && ok
	}
	if !ok {
		c.pos = start
		c.expected("a JSON value")
	}
}

func (c *cursor) digits() int {
	start := c.pos
	for c.peek() >= '0' && c.peek() <= '9' {
		c.pos++
	}
	return c.pos - start
}
