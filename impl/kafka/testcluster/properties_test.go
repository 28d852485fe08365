package testcluster

import (
	"slices"
	"strings"
	"testing"
)

// TestServers demands that every server finds every other one by a listener of
// its own, and that no two listeners are one.
func TestServers(t *testing.T) {
	all, err := servers(3)
	must(t, err)
	ports := map[int]bool{}
	var links []string
	for _, s := range all {
		names := listenerNames(s.listeners)
		if own := s.settings["inter.broker.listener.name"]; own != "" && !slices.Contains(names, own) {
			t.Errorf("%s reaches itself by %s, and listens at %v", s.name, own, names)
		}
		for _, l := range s.listeners {
			if ports[l.port] {
				t.Errorf("port %d is given twice", l.port)
			}
			ports[l.port] = true
			if l.peer != "" {
				links = append(links, l.peer+">"+s.end)
			}
			if !strings.Contains(protocolMap(3)+",", l.name+":PLAINTEXT,") {
				t.Errorf("%s has no protocol", l.name)
			}
		}
	}
	want := []string{"1>controller", "2>controller", "3>controller", "2>1", "3>1", "A>1", "B>1", "1>2", "3>2", "A>2", "B>2", "1>3", "2>3", "A>3", "B>3"}
	if !slices.Equal(links, want) {
		t.Errorf("links %v, want %v", links, want)
	}
	controllers := strings.Split(all[0].settings["controller.listener.names"], ",")
	for _, b := range all[1:] {
		if name := b.settings["controller.listener.names"]; !slices.Contains(controllers, name) || name == controllers[0] {
			t.Errorf("%s looks for the controller at %s of %v", b.name, name, controllers)
		}
	}
}

func TestProperties(t *testing.T) {
	got := properties(map[string]string{"b": "1", "a": `C:\x`}, map[string]string{"b": "2"})
	if want := "a=C:\\\\x\nb=2\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
