package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// asDemo puts this binary on PATH as the demo. It is hushgrad: a process with flags, exit codes and an end after an interrupt.
func asDemo(t *testing.T) {
	t.Helper()
	dir, name := t.TempDir(), demoProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	this, err := os.Executable()
	if err = errors.Join(err, os.Link(this, filepath.Join(dir, name))); err != nil {
		if err := os.Symlink(this, filepath.Join(dir, name)); err != nil { // the temporary directory is on another disk
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Setenv(asCommand, "1")
}

// The demo gets every argument as it is, writes to the same places, and its exit code is the command's.
func TestTheDemoIsStarted(t *testing.T) {
	asDemo(t)
	for line, want := range map[string]struct {
		code           int
		stdout, stderr string
	}{
		"version":                {0, "hushgrad ", ""},
		"serve --help":           {0, "--operator-listen", ""},
		"account compose --n -1": {2, "", "hushgrad account compose: flags: got"},
		"serve --tls-cert absent.pem --tls-key absent.pem": {1, "", "--tls-cert"},
	} {
		var stdout, stderr bytes.Buffer
		code := call(t.Context(), append([]string{"demo"}, strings.Fields(line)...), &stdout, &stderr)
		if code != want.code || !strings.Contains(stdout.String(), want.stdout) || !strings.Contains(stderr.String(), want.stderr) || strings.Count(stderr.String(), "\n") != min(1, code) {
			t.Errorf("%s: exit code %d, printed %q and %q", line, code, stdout.String(), stderr.String())
		}
	}
}

// An interrupt reaches the demo, and the command ends when the demo has ended.
func TestAnInterruptEndsTheDemo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process is killed there")
	}
	asDemo(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	said, stderr := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- call(ctx, []string{"demo", "serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--data", t.TempDir()}, io.Discard, stderr)
		_ = stderr.Close()
	}()
	lines, stopped := bufio.NewScanner(said), false
	for lines.Scan() {
		if strings.Contains(lines.Text(), "serving") {
			interrupt()
		}
		stopped = stopped || strings.Contains(lines.Text(), "stopping")
	}
	if got := <-code; got != 130 || !stopped {
		t.Errorf("exit code %d, stopped in order: %t", got, stopped)
	}
}

// Without the demo there is no mystery about what to type.
func TestAMissingDemoSaysWhatToType(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	release = "1.2.3"
	t.Cleanup(func() { release = "" })
	var stderr bytes.Buffer
	if code := call(t.Context(), []string{"demo"}, io.Discard, &stderr); code != 1 || !strings.Contains(stderr.String(), "go run github.com/hushgrad/hushgrad/examples/mnist@v1.2.3, ") {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
}

// The release has the demo as a second program, built as the first one is.
func TestTheReleaseHoldsTheDemo(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^  - \{.*id: ` + demoProgram + `, main: \./examples/mnist, binary: ` + demoProgram + `\b`).Match(text) {
		t.Errorf("no build of %s:\n%s", demoProgram, text)
	}
}
