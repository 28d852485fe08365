package testcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Version is the version of Apache Kafka that a cluster runs.
const Version = "4.4.0"

// ErrMissing says that the machine lacks Java or Maven.
var ErrMissing = errors.New("is missing; Kafka needs a Java of version 17 or later, and Maven to fetch it once")

// pom names what Maven fetches: Kafka with all that it depends on, and what joins
// Kafka's way of logging with the logger, which it leaves to those who run it.
const pom = `<project>
	<modelVersion>4.0.0</modelVersion>
	<groupId>isrcheck</groupId><artifactId>testcluster</artifactId><version>1</version>
	<dependencies>
		<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>` + Version + `</version></dependency>
		<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>2.25.5</version></dependency>
	</dependencies>
</project>
`

// Libraries returns the folder that holds Kafka's libraries, and fetches them
// with Maven if they are not there yet. They are some 45 MB in the user's cache
// folder, so they are fetched once for all clusters.
func Libraries(ctx context.Context, say func(string)) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	folder := filepath.Join(cache, "isrcheck", "kafka-"+Version)
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	maven, err := exec.LookPath("mvn")
	if err != nil {
		return "", fmt.Errorf("mvn %w", ErrMissing)
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return "", err
	}
	// They get their name when all are there, whoever else fetches them as well.
	work, err := os.MkdirTemp(filepath.Dir(folder), "fetching-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, "pom.xml"), []byte(pom), 0o666); err != nil {
		return "", err
	}
	say("fetching Apache Kafka " + Version + " with Maven")
	cmd := exec.CommandContext(ctx, maven, "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=libs")
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("fetching Kafka with Maven: %w\n%s", err, out)
	}
	if err := os.Rename(filepath.Join(work, "libs"), folder); err != nil {
		if _, there := os.Stat(folder); there != nil {
			return "", err
		}
	}
	return folder, nil
}

// java finds the Java that runs Kafka: that of JAVA_HOME, or else of PATH.
func java() (string, error) {
	name := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		name = filepath.Join(home, "bin", name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s %w", name, ErrMissing)
	}
	return path, nil
}
