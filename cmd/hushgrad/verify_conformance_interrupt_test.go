//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A real interrupt ends the adapter, too, also one that does not listen.
func TestAnInterruptEndsTheAdapter(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	judge := exec.CommandContext(ctx, os.Args[0], "verify", "conformance", "--", "env", asAdapter+"=is silent", os.Args[0])
	judge.Env = append(os.Environ(), asCommand+"=1")
	errs, err := judge.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := judge.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(errs).ReadString('\n') // the adapter's
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := judge.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _ = judge.Wait(); judge.ProcessState.ExitCode() != 130 {
		t.Errorf("the command ended with %v", judge.ProcessState)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the adapter is there: %v", err)
	}
}
