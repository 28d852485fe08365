package impl

// A formerController is one that another has replaced without its knowing. A
// broker that does not know either goes on sending it proposals, for a while. It
// can write nothing any more, and knows of no change since; the others it hears
// nothing from.
type formerController struct {
	image  image
	broker node // that takes it for the controller
	until  int64
}

// depose lets another controller take over, and one broker not notice for some time.
func (c *controller) depose(unaware node, duration int64) {
	c.former = formerController{broker: unaware, until: c.now + duration, image: image{
		brokers:    append([]brokerState(nil), c.image.brokers...),
		partitions: append([]registration(nil), c.image.partitions...),
	}}
	c.restart(0)
}

// reaches reports whether a message goes to the former controller.
func (f *formerController) reaches(m *message, now int64) bool {
	return m.kind == alterPartitionRequest && m.from == f.broker && now < f.until
}

// answerAsFormer refuses a proposal for what the former controller knows or, if
// it knows of nothing against it, because it cannot write it down. A request from
// an epoch that it has not seen tells it that it is deposed (§2.5, check 2).
func (c *controller) answerAsFormer(m *message) {
	reply := c.reply(m, alterPartitionResponse)
	reply.err = c.refusal(&c.former.image, m)
	switch {
	case reply.err == noError && c.bugs.has(formerControllerAgrees):
		reply.leaderEpoch, reply.partitionEpoch, reply.isr = m.leaderEpoch, m.partitionEpoch, m.isr
	case reply.err == noError:
		reply.err = notController
	}
	c.traceOf("former", m.partition, "answers isr %v of broker %d: %v", m.isr, m.from, reply.err)
}

func applyDeposeController(c *Cluster, a *args) string {
	switch {
	case c.broker(a.broker) == nil:
		return "there is no such broker"
	case c.controllerDown():
		return controllerIsDown
	}
	c.controller.depose(a.broker, a.duration)
	c.endFault(a, a.duration)
	return ""
}
