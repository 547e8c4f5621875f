package main

import (
	"context"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var onFlink = flag.Bool("flink", false, "run the pipeline on Flink, too; needs Java and Maven, which fetches Flink")

// A real Flink, started as docs/beam.md says, gives the bytes of hushgrad aggregate and the errors of
// Prism. Flink's workers are in this command's process.
func TestFlinkGivesTheSameBytes(t *testing.T) {
	if !*onFlink {
		t.Skip("runs with -flink")
	}
	page := blocks(t, t.Name(), 2)
	startJobServer(t, page[0])
	text := script(t, blocks(t, "TestThePageRuns", 1)[0]+page[1])
	if strings.Count(text, "week-12: 600 reports, in ") != 2 {
		t.Errorf("printed\n%s", text)
	}
	flags := []string{"--runner", "flink", "--endpoint", "localhost:8099", "--environment_type", "LOOPBACK"}
	clients := 300_000
	if *long {
		clients = 10_000_000
	}
	compare(t, "Flink", clients, flags...)

	round, files := fleet(t, 10)
	data, err := os.ReadFile(files[0])
	cut := filepath.Join(t.TempDir(), "cut")
	if err != nil || os.WriteFile(cut, data[:len(data)-1], 0o600) != nil {
		t.Fatal("no damaged file", err)
	}
	args := []string{"--round", round, "--out", filepath.Join(t.TempDir(), "out"), cut}
	_, want, _, _ := call(t, beamProgram, args...)
	if _, stderr, code, _ := call(t, beamProgram, append(flags, args...)...); code != 1 || stderr != want {
		t.Errorf("a damaged file: exit code %d, printed %q, on Prism %q", code, stderr, want)
	}
}

// startJobServer starts Beam's job server for Flink by a command, and waits until it answers. It ends
// with the test.
func startJobServer(t *testing.T, command string) {
	t.Helper()
	if conn, err := net.Dial("tcp", "localhost:8099"); err == nil {
		conn.Close()
		t.Fatal("another program listens at port 8099")
	}
	output := filepath.Join(t.TempDir(), "output")
	file, err := os.Create(output)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx, ended := context.WithCancel(t.Context())
	c := exec.Command("sh", "-c", "exec "+command)
	c.Dir, c.Stdout, c.Stderr = "..", file, file
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Maven starts Java
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		c.Wait()
		ended()
	}()
	t.Cleanup(func() {
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		<-ctx.Done()
	})
	for deadline := time.Now().Add(15 * time.Minute); ; time.Sleep(100 * time.Millisecond) { // Maven fetches 150 MB the first time
		if conn, err := net.Dial("tcp", "localhost:8099"); err == nil {
			conn.Close()
			return
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			text, _ := os.ReadFile(output)
			t.Fatalf("the job server does not answer:\n%s", text)
		}
	}
}
