package histories

import (
	"strings"
)

// jsonHeader reads the first line.
func (c *cursor) jsonHeader() (h Header) {
	begin := c.pos
	seen := make(map[string]bool)
	c.object(func(key string, start int) {
		if seen[key] {
			c.fail(start, "%s is stated twice", excerpt(key))
			return
		}
		seen[key] = true
		at := c.pos
		switch key {
		case "history":
			if version := c.integer("the version of the format"); version != 1 {
				c.fail(at, `version %d of the format is not supported; expected "history":1`, version)
			}
		case "config":
			h.Config = c.jsonConfig()
		case "expect":
			e, err := parseExpect(c.quoted("a string"))
			if err != nil {
				c.fail(at, "%v", err)
			}
			h.Expect = e
		case "note":
			h.Note = c.quoted("a string")
		case "schedule":
			h.Schedule = c.quoted("a string")
		case "x-layout":
			c.array(func() { h.layout = append(h.layout, c.quoted("a string")) })
		default:
			c.unknownKey(key, start, `history, config, expect, note, schedule`)
		}
	})
	if !seen["history"] {
		c.fail(begin, `expected "history":1 in the first line`)
	}
	c.endOfEvent()
	if err := h.check(); err != nil {
		c.fail(begin, "%v", err)
	}
	return h
}

func (c *cursor) jsonConfig() (config Config) {
	seen := make(map[string]bool)
	c.object(func(key string, at int) {
		s := Setting{key, c.quoted("a string")}
		if err := s.check(); err != nil {
			c.fail(at, "%v", err)
		} else if seen[key] {
			c.fail(at, "config key %s is stated twice", excerpt(key))
		}
		seen[key] = true
		config = append(config, s)
	})
	return config
}

// unknownKey skips the value of an extension and rejects any other key.
func (c *cursor) unknownKey(key string, start int, known string) {
	if strings.HasPrefix(key, "x-") {
		c.skip(0)
		return
	}
	c.fail(start, "unknown key %s; expected one of %s, or x-...", excerpt(key), known)
}
