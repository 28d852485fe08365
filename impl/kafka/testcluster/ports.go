package testcluster

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// freePorts finds ports of the loopback address that nobody listens at. They
// lie below those that the system gives to connections, which could take the
// port of a broker while it is down.
func freePorts(n int) ([]int, error) {
	const low, high, tries = 10_000, 32_000, 10_000
	var ports []int
	for at, tried := low+rand.IntN(high-low), 0; len(ports) < n; at, tried = at+1, tried+1 {
		if tried == tries {
			return nil, fmt.Errorf("only %d of %d ports are free among %d", len(ports), n, tries)
		}
		port := low + (at-low)%(high-low)
		l, err := net.Listen("tcp", address(port))
		if err != nil {
			continue
		}
		l.Close()
		ports = append(ports, port)
	}
	return ports, nil
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
