// Package jetstream tests the streams of a NATS cluster. It is a module of its
// own, so that nobody else depends on what it needs:
//
//	cd checker/logtest/jetstream && go test -v
package jetstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isrcheck/isrcheck/checker/logtest"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const servers = 3

// TestStream tests a stream of three replicas, a fresh one for each run, on a
// cluster that serves them all. Its servers run in this process. They can be
// stopped and started again, which is kinder than a crash: a server that is
// stopped hands its leadership over and closes its files.
func TestStream(t *testing.T) {
	drive := newCluster(t).driver(jetstream.StreamConfig{Replicas: servers, Storage: jetstream.FileStorage})
	logtest.TestLog(t, drive, logtest.Options{Runs: 3, Timeout: 3 * time.Second, Pace: time.Second, MinimizeTime: time.Minute})
}

// TestStreamInMemory demands that the suite sees a stream lose what it keeps in
// the memory of one server, which is what its settings say.
func TestStreamInMemory(t *testing.T) {
	drive := newCluster(t).driver(jetstream.StreamConfig{Replicas: 1, Storage: jetstream.MemoryStorage})
	err := logtest.CheckLog(t.Context(), drive, logtest.Options{Runs: 1, Timeout: time.Second, Pace: time.Second, MinimizeTime: 5 * time.Second})
	var f *logtest.Failure
	if !errors.As(err, &f) || f.Rule != "lost-write" {
		t.Errorf("got %v, want lost-write", err)
	}
	t.Log(err)
}

// driver makes a fresh stream of that kind for each run.
func (c *cluster) driver(kind jetstream.StreamConfig) logtest.Driver {
	n := 0
	return func(ctx context.Context, run *logtest.Run) error {
		n++
		kind.Name = fmt.Sprintf("s%d", n)
		kind.Subjects = []string{kind.Name}
		s, err := c.stream(ctx, kind)
		if err != nil {
			return err
		}
		defer s.connection.Close()
		return run.Play(ctx, s)
	}
}

// A cluster is three servers in this process.
type cluster struct {
	options [servers]*server.Options
	running [servers]*server.Server
	urls    []string
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{}
	ports := freePorts(t, 2*servers)
	var routes []string
	for i := range servers {
		c.urls = append(c.urls, fmt.Sprintf("nats://127.0.0.1:%d", ports[i]))
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", ports[servers+i]))
	}
	for i := range servers {
		c.options[i] = &server.Options{ServerName: fmt.Sprintf("n%d", i+1), Host: "127.0.0.1", Port: ports[i], JetStream: true,
			StoreDir: t.TempDir(), NoSigs: true, NoLog: true, Routes: server.RoutesFromStr(strings.Join(routes, ",")),
			Cluster: server.ClusterOpts{Name: "isrcheck", Host: "127.0.0.1", Port: ports[servers+i]}}
		if err := c.start(i); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, s := range c.running {
			s.Shutdown()
			s.WaitForShutdown()
		}
	})
	return c
}

// freePorts returns ports that nobody listens at.
func freePorts(t *testing.T, n int) (ports []int) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (c *cluster) start(i int) error {
	s, err := server.NewServer(c.options[i].Clone())
	if err != nil {
		return err
	}
	c.running[i] = s
	s.Start()
	return nil
}

// stream makes a stream, which waits until the cluster has a leader.
func (c *cluster) stream(ctx context.Context, kind jetstream.StreamConfig) (*stream, error) {
	nc, err := nats.Connect(strings.Join(c.urls, ","), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond), nats.RetryOnFailedConnect(true))
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s := &stream{cluster: c, connection: nc, js: js, name: kind.Name}
	return s, s.until(ctx, func(ctx context.Context) error {
		_, err := js.CreateStream(ctx, kind)
		return err
	})
}

// A stream is a log. A message holds a batch: its sequence number and the
// place of a value in it are the value's offset.
type stream struct {
	*cluster
	connection *nats.Conn
	js         jetstream.JetStream
	name       string
}

const batch = 1 << 8 // more than a batch has values

func (s *stream) Append(ctx context.Context, _ string, values []string) (int64, error) {
	ack, err := s.js.Publish(ctx, s.name, []byte(strings.Join(values, " ")), jetstream.WithRetryAttempts(0))
	if err != nil {
		return 0, err
	}
	return int64(ack.Sequence) * batch, nil
}

func (s *stream) Read(ctx context.Context, _ string, from int64) (records []logtest.Record, err error) {
	st, err := s.js.Stream(ctx, s.name)
	if err != nil {
		return nil, err
	}
	last := int64(st.CachedInfo().State.LastSeq)
	for seq := max(from/batch, 1); seq <= last; seq++ {
		m, err := st.GetMsg(ctx, uint64(seq))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for i, v := range strings.Fields(string(m.Data)) {
			if offset := seq*batch + int64(i); offset >= from {
				records = append(records, logtest.Record{Offset: offset, Value: v})
			}
		}
	}
	return records, nil
}

func (s *stream) Nodes() int { return servers }

func (s *stream) Crash(node int) error {
	s.running[node-1].Shutdown()
	s.running[node-1].WaitForShutdown()
	return nil
}

func (s *stream) Restart(node int) error { return s.start(node - 1) }

// Settle waits until every replica is current, as its leader says.
func (s *stream) Settle(ctx context.Context) error {
	return s.until(ctx, func(ctx context.Context) error {
		st, err := s.js.Stream(ctx, s.name)
		if err != nil {
			return err
		}
		group := st.CachedInfo().Cluster
		if group == nil || group.Leader == "" || len(group.Replicas) < st.CachedInfo().Config.Replicas-1 ||
			slices.ContainsFunc(group.Replicas, func(p *jetstream.PeerInfo) bool { return !p.Current || p.Offline }) {
			return errors.New("not every replica is current")
		}
		return nil
	})
}

// until tries until it succeeds.
func (s *stream) until(ctx context.Context, try func(context.Context) error) error {
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		once, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := try(once)
		cancel()
		if err == nil {
			tick.Stop()
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}
