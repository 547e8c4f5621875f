//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A real interrupt ends a real process that watches: it is the usual end, without a message.
func TestAnInterruptEndsWatching(t *testing.T) {
	t.Parallel()
	_, operator := parts(t, run(t)) // with an open round named probe
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	watch := exec.CommandContext(ctx, os.Args[0], "rounds", "watch", "--server", operator, "--every", "100ms")
	watch.Env = append(os.Environ(), asCommand+"=1")
	var stderr bytes.Buffer
	watch.Stderr = &stderr
	out, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil || !strings.Contains(line, "probe open") {
		t.Errorf("watch printed %q, %v", line, err)
	}
	if err := watch.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err := watch.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("after an interrupt: %v, %q", err, stderr.String())
	}
	if err != nil || len(rest) > 0 {
		t.Errorf("after its line watch printed %q, %v", rest, err)
	}
}
