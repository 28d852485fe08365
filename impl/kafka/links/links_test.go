package links

import (
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// echo is a server that answers every byte with the same byte, and tells what
// came when a connection ends.
func echo(t *testing.T) (addr string, came <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	ended := make(chan string, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				var all strings.Builder
				_, _ = io.Copy(conn, io.TeeReader(conn, &all))
				conn.Close()
				ended <- all.String()
			}()
		}
	}()
	return l.Addr().String(), ended
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return conn
}

// ask sends some text and returns what comes back, up to as many bytes.
func ask(t *testing.T, conn net.Conn, text string) string {
	t.Helper()
	_, err := io.WriteString(conn, text)
	must(t, err)
	answer := make([]byte, len(text))
	n, _ := io.ReadFull(conn, answer)
	return string(answer[:n])
}

func network(t *testing.T) (n *Network, addr string, came <-chan string) {
	t.Helper()
	server, came := echo(t)
	n = New()
	t.Cleanup(func() { n.Close() })
	addr, err := n.Add("client", "server", "127.0.0.1:0", server)
	must(t, err)
	return n, addr, came
}

// TestCut cuts each direction, and looks at who still hears the other.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		cuts   [][2]string
		arrive string // at the server while it is cut
	}{
		{[][2]string{{"client", "server"}}, ""},
		{[][2]string{{"server", "client"}}, "asked"},
		{[][2]string{{"client", "server"}, {"server", "client"}}, ""},
	} {
		n, addr, came := network(t)
		before := dial(t, addr)
		if got := ask(t, before, "one"); got != "one" {
			t.Fatalf("before the cut, the answer is %q", got)
		}
		for _, cut := range c.cuts {
			must(t, n.Cut(cut[0], cut[1]))
			must(t, n.Cut(cut[0], cut[1])) // says nothing new
		}
		during := dial(t, addr)
		for conn, heard := range map[net.Conn]string{before: "one" + c.arrive, during: c.arrive} {
			_, err := io.WriteString(conn, "asked")
			must(t, err)
			must(t, conn.(*net.TCPConn).CloseWrite())
			if got := <-came; got != heard {
				t.Errorf("%v: the server hears %q, want %q", c.cuts, got, heard)
			}
			if got, _ := io.ReadAll(conn); len(got) > 0 && c.cuts[len(c.cuts)-1][0] == "server" {
				t.Errorf("%v: the client hears %q", c.cuts, got)
			}
		}
		n.Heal()
		if got := ask(t, dial(t, addr), "two"); got != "two" {
			t.Errorf("%v: after it healed, the answer is %q", c.cuts, got)
		}
	}
}

// TestHealBreaks demands that nobody takes a connection that lost something for
// one that did not.
func TestHealBreaks(t *testing.T) {
	n, addr, came := network(t)
	conn := dial(t, addr)
	ask(t, conn, "one")
	must(t, n.Cut("client", "server"))
	_, err := io.WriteString(conn, "lost")
	must(t, err)
	n.Heal()
	if got, _ := io.ReadAll(conn); len(got) > 0 {
		t.Errorf("the client hears %q", got)
	}
	if got := <-came; got != "one" {
		t.Errorf("the server hears %q", got)
	}
}

func TestDelay(t *testing.T) {
	n, addr, _ := network(t)
	conn := dial(t, addr)
	ask(t, conn, "one")
	const by = 30 * time.Millisecond
	must(t, n.Delay("client", "server", by))
	must(t, n.Delay("server", "client", by))
	start := time.Now()
	if got := ask(t, conn, "late"); got != "late" {
		t.Errorf("the answer is %q", got)
	}
	if took := time.Since(start); took < 2*by {
		t.Errorf("a question and its answer came within %v, though each is delayed by %v", took, by)
	}
	n.Heal()
	if got := ask(t, conn, "a delay loses nothing"); got != "a delay loses nothing" {
		t.Errorf("after it healed, the answer is %q", got)
	}
}

func TestEnds(t *testing.T) {
	n, addr, _ := network(t)
	server, _ := echo(t)
	for _, l := range [][2]string{{"client", "b"}, {"b", "server"}} {
		_, err := n.Add(l[0], l[1], "127.0.0.1:0", server)
		must(t, err)
	}
	if got := n.Ends(); !slices.Equal(got, []string{"b", "client", "server"}) {
		t.Errorf("ends %v", got)
	}
	if got := n.Peers("server"); !slices.Equal(got, []string{"b", "client"}) {
		t.Errorf("peers of the server: %v", got)
	}
	if got := n.Unused(); !slices.Equal(got, []string{"client:server", "client:b", "b:server"}) || n.Used("server", "client") {
		t.Errorf("unused links %v", got)
	}
	ask(t, dial(t, addr), "one")
	if got := n.Unused(); !slices.Equal(got, []string{"client:b", "b:server"}) || !n.Used("server", "client") {
		t.Errorf("unused links %v", got)
	}
	if err := n.Cut("client", "nobody"); err == nil || err.Error() != "no link joins client and nobody" {
		t.Errorf("%v", err)
	}
	if _, err := n.Add("x", "y", "127.0.0.1:99999", server); err == nil || !strings.Contains(err.Error(), "the proxy from x to y") {
		t.Errorf("%v", err)
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		listen, addr string
		want         bool
	}{
		{"localhost:9092", "localhost:9092", true},
		{"127.0.0.1:9092", "localhost:9092", true},
		{":9092", "broker.example:9092", true},
		{"0.0.0.0:9092", "broker.example:9092", true},
		{"localhost:19092", "localhost:9092", false},
		{"127.0.0.1:9092", "127.0.0.2:9092", false},
		{"localhost", "localhost", false},
	} {
		if got := Same(c.listen, c.addr); got != c.want {
			t.Errorf("Same(%q, %q) is %v", c.listen, c.addr, got)
		}
	}
}
