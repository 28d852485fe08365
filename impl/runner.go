package impl

import "github.com/isrcheck/isrcheck/histories/schedule"

// A Runner runs one schedule after another in the same memory, which makes
// short runs several times as fast. The zero value is ready. What it did before
// does not influence a run, and what a run returned is never touched again. A
// Runner is not safe for concurrent use.
type Runner struct {
	cluster Cluster
	plan    plan
	other   plan // memory for the next one
}

// Run does what [Run] does.
func (r *Runner) Run(s schedule.Schedule, opts Options) (*Result, error) {
	if err := r.other.read(s); err != nil {
		return nil, err
	}
	r.plan, r.other = r.other, r.plan
	c := &r.cluster
	r.perform(opts)
	h, err := c.history()
	if err != nil {
		return nil, err
	}
	return &Result{History: h, Fingerprint: c.Fingerprint(), Breaches: c.breaches, Unsafe: c.unsafe(), Stats: c.stats, Trace: c.trace}, nil
}

// Again performs the schedule of the last successful Run once more, from its
// start, and returns the fingerprint. Invariants are not judged: they only look on.
func (r *Runner) Again() string {
	r.perform(Options{NoInvariants: true})
	return r.cluster.Fingerprint()
}

func (r *Runner) perform(opts Options) {
	r.cluster.boot(r.plan, opts)
	for r.cluster.Step() {
	}
}

// The methods reset make everything in a cluster new again but keep the memory
// that no result refers to.

func (c *Cluster) reset() {
	*c = Cluster{
		env:        env{ghosts: c.ghosts, ops: c.ops[:0], marks: c.marks[:0], memory: c.memory},
		queue:      c.queue,
		net:        network{rules: c.net.rules[:0]},
		controller: c.controller,
		brokers:    c.brokers,
		clients:    c.clients[:0],
		waiting:    c.waiting[:0],
		said:       c.said[:0],
	}
	c.queue.reset()
	c.controller.reset()
	c.memory.records.reset()
	c.memory.sent.reset()
	c.memory.read.reset()
}

func (c *controller) reset() {
	*c = controller{outbox: c.emptied(), log: c.log[:0], image: c.image, digests: c.digests[:0], sessions: c.sessions,
		wishes: c.wishes[:0]}
}

func (b *broker) reset() {
	*b = broker{outbox: b.emptied(), image: b.image, replicas: b.replicas, held: b.held[:0]}
}

func (r *replica) reset() {
	*r = replica{progress: r.progress, sessions: r.sessions, produces: r.produces, fetches: r.fetches, reads: r.reads, deletes: r.deletes}
}

func (c *client) reset() {
	*c = client{outbox: c.emptied(), waiting: c.waiting[:0], calls: c.calls[:0], views: c.views, positions: c.positions, seqs: c.seqs}
}

func (g *ghost) reset() {
	*g = ghost{committed: g.committed[:0], acked: g.acked[:0], read: g.read[:0], appender: g.appender[:0],
		writes: g.writes[:0], latest: g.latest[:0], lost: g.lost[:0]}
}

func (o *outbox) emptied() outbox { return outbox{slots: o.slots[:0]} }

// resized returns n elements in the memory of others, each of them reset if it
// is said how.
func resized[T any](s []T, n int, reset func(*T)) []T {
	if n > cap(s) {
		s = append(s[:cap(s)], make([]T, n-cap(s))...)
	}
	s = s[:n]
	for i := range s {
		if reset != nil {
			reset(&s[i])
		}
	}
	return s
}

// zeroed returns n zeros in the memory of others.
func zeroed[T any](s []T, n int) []T {
	s = resized(s, n, nil)
	clear(s)
	return s
}
