package parties

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test binary is also the process that is started: this variable says what it does.
const childEnv = "HUSHGRAD_PARTIES_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "serves":
		fmt.Fprint(os.Stderr, "not JSON\n{\"msg\":\"serving\",\"address\":\"a\"}\n{\"msg\":\"serving\",")
		time.Sleep(10 * time.Millisecond)
		fmt.Fprint(os.Stderr, "\"address\":\"b\"}\n")
		time.Sleep(time.Minute)
	case "fails":
		fmt.Fprintln(os.Stderr, "the disk is full")
		os.Exit(3)
	case "parent":
		_ = os.Setenv(childEnv, "serves")
		p, err := start(os.Args[0], "serve")
		if err == nil {
			err = p.serving(context.Background(), []string{"b"})
		}
		fmt.Println(p.pid, err)
		time.Sleep(time.Minute)
	}
	os.Exit(1)
}

func child(t *testing.T, what string) *process {
	t.Helper()
	t.Setenv(childEnv, what)
	p, err := start(os.Args[0], "serve")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProcessesAreAwaitedAndStopped(t *testing.T) {
	p := child(t, "serves")
	if err := p.serving(t.Context(), []string{"b", "a"}); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.serving(ctx, []string{"c"}); !errors.Is(err, context.Canceled) {
		t.Errorf("an address that it does not serve: %v", err)
	}
	// An interrupt ends a process that does nothing about it in another way than by itself.
	if err := p.stop(); err == nil || !strings.Contains(err.Error(), "hushgrad serve: ") {
		t.Errorf("an end by a signal: %v", err)
	}
	select {
	case <-p.ended:
	default:
		t.Error("it still runs")
	}
}

func TestFailuresSayWhatWasLogged(t *testing.T) {
	p := child(t, "fails")
	if err := p.serving(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "ended before it served") {
		t.Errorf("%v", err)
	}
	if err := p.stop(); err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("%v", err)
	}
	if _, err := start(filepath.Join(t.TempDir(), "none"), "serve"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no binary: %v", err)
	}
	if _, err := Start(t.Context(), Config{Dir: t.TempDir(), Clients: 0, Floor: 1, Rounds: 1}); err == nil {
		t.Error("parties without clients were started")
	}
}

// The last lines are kept, however many there are.
func TestLogsAreBounded(t *testing.T) {
	l := &log{serving: map[string]bool{}, changed: make(chan struct{}, 1)}
	for i := range 1000 {
		fmt.Fprintf(l, "line %d\n", i)
	}
	if text := l.String(); strings.Count(text, "\n") != lastLines || !strings.Contains(text, "line 999") || strings.Contains(text, "line 979\n") {
		t.Errorf("%q", text)
	}
}

// A process that is killed takes its own ones with it.
func TestNothingOutlivesItsParent(t *testing.T) {
	if !endsWithParent {
		t.Skip("this system cannot")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=parent")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	var state string
	if _, err := fmt.Fscan(out, &pid, &state); err != nil || state != "<nil>" {
		t.Fatal(pid, state, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(text), ") Z ") {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
