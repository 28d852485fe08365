//go:build linux || darwin

package testcluster

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFolder kills the one who made a folder. It is this test in another
// process. The next one removes what was left, and nothing that is in use.
func TestFolder(t *testing.T) {
	if os.Getenv("MAKER") != "" {
		dir, _, err := Folder()
		fmt.Println(dir, err)
		select {}
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	maker := exec.Command(os.Args[0], "-test.run=^TestFolder$")
	maker.Env = append(os.Environ(), "MAKER=1")
	out, err := maker.StdoutPipe()
	if err == nil {
		err = maker.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	left, _, _ := strings.Cut(line, " ")
	foreign := filepath.Join(temp, "isrcheck-kafka-foreign")
	if err := os.Mkdir(foreign, 0o777); err != nil {
		t.Fatal(err)
	}
	exists := func(dir string) bool { _, err := os.Stat(dir); return err == nil }
	first, remove, err := Folder()
	if err != nil || !exists(first) || !exists(left) {
		t.Errorf("%s is there: %t; %s, which is in use: %t; %v", first, exists(first), left, exists(left), err)
	}
	_ = maker.Process.Kill()
	_ = maker.Wait()
	second, removeSecond, err := Folder()
	if err != nil || exists(left) || !exists(first) || !exists(second) || !exists(foreign) {
		t.Errorf("there are %s: %t, %s: %t, %s: %t, %s: %t; %v", left, exists(left), first, exists(first), second, exists(second), foreign, exists(foreign), err)
	}
	for _, remove := range []func() error{remove, removeSecond} {
		if err := remove(); err != nil {
			t.Error(err)
		}
	}
	if exists(first) || exists(second) {
		t.Error("a folder that was removed is there")
	}
}
