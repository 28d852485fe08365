package testcluster

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Every server has a listener for each kind of peer that connects to it, which
// it tells that kind of peer about, and no other one. What it tells is the
// address of a proxy, so that each pair of servers can be cut by itself:
//
//	CONTROL1..N  of the controller, for broker 1..N; CONTROL0 for itself
//	FROM1..N     of a broker, for broker 1..N
//	A, B         of a broker, for clients of one side and the other
//
// This works since a broker looks the others up by the name of its own
// inter.broker.listener.name, and the controller by its own first one of
// controller.listener.names.

// Sides are the two sides that clients can be on.
var Sides = []string{"A", "B"}

// A server is the controller or a broker.
type server struct {
	name      string
	end       string // its name in the network
	listeners []listener
	settings  map[string]string
}

// A listener is a port of a server for one kind of peer.
type listener struct {
	name       string
	peer       string // the end of the network that connects to it, "" if it is the server itself
	port       int
	advertised string // HOST:PORT that peers are told
}

// controllerID is the node id of the controller.
const controllerID = 100

// servers returns the controller and n brokers, at ports that are free.
func servers(n int) ([]server, error) {
	ports, err := freePorts((1 + n) + n*(n+len(Sides)))
	if err != nil {
		return nil, err
	}
	listen := func(name, peer string) listener {
		l := listener{name: name, peer: peer, port: ports[0]}
		ports = ports[1:]
		return l
	}
	controller := server{name: "controller", end: "controller", listeners: []listener{listen(controlName(0), "")}}
	brokers := make([]server, n)
	for i := range brokers {
		id := i + 1
		controller.listeners = append(controller.listeners, listen(controlName(id), strconv.Itoa(id)))
		b := server{name: fmt.Sprintf("broker-%d", id), end: strconv.Itoa(id)}
		for from := 1; from <= n; from++ {
			peer := strconv.Itoa(from)
			if from == id {
				peer = ""
			}
			b.listeners = append(b.listeners, listen(fromName(from), peer))
		}
		for _, side := range Sides {
			b.listeners = append(b.listeners, listen(side, side))
		}
		b.settings = map[string]string{
			"process.roles":              "broker",
			"node.id":                    strconv.Itoa(id),
			"inter.broker.listener.name": fromName(id),
			"controller.listener.names":  controlName(id),
		}
		brokers[i] = b
	}
	controller.settings = map[string]string{
		"process.roles":             "controller",
		"node.id":                   strconv.Itoa(controllerID),
		"controller.listener.names": strings.Join(listenerNames(controller.listeners), ","),
	}
	return append([]server{controller}, brokers...), nil
}

func listenerNames(ls []listener) []string {
	var names []string
	for _, l := range ls {
		names = append(names, l.name)
	}
	return names
}

// listenerProperties state the listeners of a server.
func listenerProperties(ls []listener) map[string]string {
	var listen, advertised []string
	for _, l := range ls {
		listen = append(listen, l.name+"://"+address(l.port))
		advertised = append(advertised, l.name+"://"+l.advertised)
	}
	return map[string]string{
		"listeners":            strings.Join(listen, ","),
		"advertised.listeners": strings.Join(advertised, ","),
	}
}

// protocolMap says of every listener there is that it is not encrypted.
func protocolMap(brokers int) string {
	names := append(slices.Clone(Sides), controlName(0))
	for id := 1; id <= brokers; id++ {
		names = append(names, controlName(id), fromName(id))
	}
	for i, name := range names {
		names[i] = name + ":PLAINTEXT"
	}
	return strings.Join(names, ",")
}

func controlName(broker int) string { return fmt.Sprintf("CONTROL%d", broker) }
func fromName(broker int) string    { return fmt.Sprintf("FROM%d", broker) }

// common are the settings of every server. They are small, since all servers
// share one machine, and quick to notice a fault, so that a recording of a
// minute has several.
var common = map[string]string{
	"auto.create.topics.enable":                    "false",
	"broker.heartbeat.interval.ms":                 "500",
	"broker.session.timeout.ms":                    "3000",
	"controller.quorum.request.timeout.ms":         "1000",
	"controller.socket.timeout.ms":                 "3000",
	"default.replication.factor":                   "3",
	"group.initial.rebalance.delay.ms":             "0",
	"log.cleaner.dedupe.buffer.size":               "4194304",
	"min.insync.replicas":                          "2",
	"num.io.threads":                               "2",
	"num.network.threads":                          "1",
	"num.recovery.threads.per.data.dir":            "1",
	"offsets.topic.num.partitions":                 "3",
	"offsets.topic.replication.factor":             "3",
	"replica.fetch.wait.max.ms":                    "200",
	"replica.lag.time.max.ms":                      "3000",
	"replica.socket.timeout.ms":                    "3000",
	"share.coordinator.state.topic.num.partitions": "1",
	"transaction.state.log.min.isr":                "2",
	"transaction.state.log.num.partitions":         "3",
	"transaction.state.log.replication.factor":     "3",
}

// properties prints settings as Java reads them; a later one overrides.
func properties(settings ...map[string]string) string {
	all := map[string]string{}
	for _, s := range settings {
		maps.Copy(all, s)
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s=%s\n", key, strings.ReplaceAll(all[key], `\`, `\\`))
	}
	return b.String()
}
