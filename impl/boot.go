package impl

import "github.com/isrcheck/isrcheck/histories/schedule"

// New returns a cluster in which every broker is in service and in sync, the
// logs are empty, and no step was performed.
func New(s schedule.Schedule, opts Options) (*Cluster, error) {
	var p plan
	if err := p.read(s); err != nil {
		return nil, err
	}
	c := &Cluster{}
	c.boot(p, opts)
	return c, nil
}

// boot brings a cluster up that is about to perform a plan. Whatever ran in its
// memory before leaves no trace.
func (c *Cluster) boot(p plan, opts Options) {
	c.reset()
	c.cfg, c.bugs, c.actions = p.cfg, p.bugs, p.actions
	c.tracing, c.judging, c.watch = opts.Trace, !opts.NoInvariants, opts.Watch
	c.stats.Faults, c.stats.Moments, c.stats.Roles = make([]int64, len(Faults)), make([]int64, len(Moments)), make([]int64, len(Roles))
	c.net.brokers = node(c.cfg.brokers)
	c.ghosts = resized(c.ghosts, c.cfg.partitions, (*ghost).reset)
	c.bootController()
	c.bootBrokers()
	for i := range c.actions {
		if a := &c.actions[i]; a.fault < 0 {
			c.client(a.client)
		}
	}
	c.client(scanner)
}

// bootController writes the metadata of a cluster that has just come up.
func (c *Cluster) bootController() {
	ctl := &c.controller
	ctl.env, ctl.queue = &c.env, &c.queue
	ctl.image.reset(c.cfg.brokers, c.cfg.partitions)
	ctl.digests = append(ctl.digests, 0)
	ctl.sessions = zeroed(ctl.sessions, c.cfg.brokers+1)
	for b := 1; b <= c.cfg.brokers; b++ {
		ctl.sessions[b] = session{incarnation: 1, leaving: none}
		ctl.write(metaRecord{broker: node(b), state: brokerState{epoch: ctl.image.offset}})
	}
	for p := range c.cfg.partitions {
		var ar []node
		for i := range c.cfg.replicationFactor {
			ar = append(ar, node((p+i)%c.cfg.brokers+1))
		}
		reg := registration{assignment: ar, isr: setOf(ar...), leader: ar[0], lastKnown: nobody}
		ctl.write(metaRecord{broker: nobody, partition: int32(p), reg: reg})
		c.ghosts[p].previous, c.ghosts[p].current = reg, reg
	}
	for b := 1; b <= c.cfg.brokers; b++ {
		ctl.sessions[b].known = ctl.image.offset
		ctl.watch(node(b))
	}
	c.flush(&ctl.outbox)
}

// bootBrokers starts the brokers, which know that metadata already.
func (c *Cluster) bootBrokers() {
	c.brokers = resized(c.brokers, c.cfg.brokers+1, (*broker).reset)
	for i := 1; i < len(c.brokers); i++ {
		b := &c.brokers[i]
		b.env, b.queue, b.id, b.cleanShutdown = &c.env, &c.queue, node(i), none
		b.replicas = resized(b.replicas, c.cfg.partitions, (*replica).reset)
		for p := range b.replicas {
			b.replicas[p].partition, b.replicas[p].log.memory = int32(p), &c.memory.records
			b.replicas[p].progress = zeroed(b.replicas[p].progress, c.cfg.brokers+1)
			b.replicas[p].sessions = zeroed(b.replicas[p].sessions, c.cfg.brokers+1)
			b.replicas[p].forget()
		}
		b.start()
		b.state, b.epoch = running, c.controller.image.brokers[i].epoch
		b.image.offset, b.image.digest = c.controller.image.offset, c.controller.image.digest
		copy(b.image.brokers, c.controller.image.brokers)
		copy(b.image.partitions, c.controller.image.partitions)
		for p := range b.replicas {
			b.applyPartition(&b.replicas[p], &b.image.partitions[p])
		}
	}
	for i := 1; i < len(c.brokers); i++ {
		c.flush(&c.brokers[i].outbox)
	}
}

// client returns the place of the client with that name, which it makes if
// there is none yet.
func (c *Cluster) client(name string) int {
	for i := range c.clients {
		if c.clients[i].name == name {
			return i
		}
	}
	i := len(c.clients)
	c.clients = resized(c.clients, i+1, nil)
	k := &c.clients[i]
	k.reset()
	k.env, k.queue = &c.env, &c.queue
	k.name, k.id, k.bootstrap = name, node(c.cfg.brokers+1+i), 1
	k.views, k.positions, k.seqs = zeroed(k.views, c.cfg.partitions), zeroed(k.positions, c.cfg.partitions), zeroed(k.seqs, c.cfg.partitions)
	for p := range k.views {
		k.views[p] = leaderView{nobody, none}
		k.positions[p] = chosen(none)
	}
	return i
}
