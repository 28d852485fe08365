package testcluster

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// options make Java start fast, and take little of a machine that it shares
// with the other servers.
var options = []string{"-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Djava.awt.headless=true"}

// logging writes what Kafka logs to its standard output.
const logging = `status=error
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{HH:mm:ss.SSS} %p %m (%c{1})%n
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
`

func (k *Cluster) logging() string { return filepath.Join(k.dir, "log4j2.properties") }

// run is a command of Kafka's, by the class of its main function.
func (k *Cluster) run(class string, args ...string) *exec.Cmd {
	all := append(append([]string{}, options...), "-Dlog4j2.configurationFile="+k.logging(), "-cp", k.classpath, class)
	return exec.Command(k.java, append(all, args...)...)
}

// kafka runs a server.
func (k *Cluster) kafka(s server, log io.Writer) *exec.Cmd {
	cmd := k.run("kafka.Kafka", k.path(s, "properties"))
	cmd.Stdout, cmd.Stderr = log, log
	return cmd
}

// format makes the data folders of all servers those of one new cluster.
func (k *Cluster) format(ctx context.Context) error {
	if err := os.WriteFile(k.logging(), []byte(logging), 0o666); err != nil {
		return err
	}
	var id [16]byte
	rand.Read(id[:])
	id[0] &= 0x7f // the tool takes a leading dash for a flag
	cluster := base64.RawURLEncoding.EncodeToString(id[:])
	errs := make([]error, len(k.servers))
	var all sync.WaitGroup
	for i, s := range k.servers {
		all.Go(func() {
			cmd := k.run("kafka.tools.StorageTool", "format", "-t", cluster, "-c", k.path(s, "properties"))
			if out, err := cmd.CombinedOutput(); err != nil {
				errs[i] = fmt.Errorf("formatting the data folder of %s: %w\n%s", s.name, err, out)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
