package impl

import "slices"

// wakeAt makes sure that the client looks at its attempts at that time. One timer
// is enough for all of them: most are answered long before.
func (c *client) wakeAt(at int64) {
	if c.alarm == 0 || at < c.alarm {
		c.alarm = at
		c.timer(c.id, alarmTimer, at-c.now, at)
	}
}

// onAlarm ends the attempts that took too long, in the order in which they began.
func (c *client) onAlarm() {
	c.alarm = 0
	for {
		i := slices.IndexFunc(c.calls, func(k call) bool { return k.asked != kindNone && k.until <= c.now })
		if i < 0 {
			break
		}
		c.attemptFailed(&c.calls[i], requestTimedOut, c.calls[i].wasSent())
	}
	for i := range c.calls {
		if k := &c.calls[i]; k.asked != kindNone {
			c.wakeAt(k.until)
		}
	}
}
