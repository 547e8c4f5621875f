package cluster_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// root is the folder of the main module.
const root = "../../.."

// scratch is a folder for programs, and for the state of hushgrad.
var scratch string

// runTests runs the tests, out of the state of the user who runs them.
func runTests(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "hushgrad"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(scratch)
	_ = os.Unsetenv("STATE_DIRECTORY")
	_ = os.Setenv("XDG_STATE_HOME", scratch)
	return m.Run()
}

// compile makes a program of a package of the main module by a command of go, and returns its path. The program finds
// races if these tests do.
func compile(name, of string, command ...string) (string, error) {
	program := filepath.Join(scratch, name)
	args := append(command, "-o", program)
	info, _ := debug.ReadBuildInfo()
	if info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")
	}
	c := exec.Command("go", append(args, of)...)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", c.Args, err, out)
	}
	return program, nil
}

var built = sync.OnceValues(func() (string, error) { return compile("hushgrad", "./cmd/hushgrad", "build") })

// build builds hushgrad once for all tests, and returns its path. A test calls it before t.Parallel: others wait for
// seconds, which compilers would use up.
func build(t *testing.T) string {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// hushgrad is a command line that has not begun.
func hushgrad(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return exec.Command(build(t), args...)
}

// printed runs a command line that must work and returns what it prints.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := hushgrad(t, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %v: %s", args, err, stderr.String())
	}
	return stdout.String()
}

// refusal runs a command line that must not work and returns what it prints about that.
func refusal(t *testing.T, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	c := hushgrad(t, args...)
	c.Stderr = &stderr
	var exit *exec.ExitError
	if err := c.Run(); !errors.As(err, &exit) {
		t.Errorf("%v: %v, want that it is refused", args, err)
	}
	return stderr.String()
}

// runRole starts a command that serves until the test ends, and returns its log.
func runRole(t *testing.T, args ...string) *log {
	t.Helper()
	out, c := &log{}, hushgrad(t, args...)
	c.Stderr = out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Process.Signal(syscall.SIGTERM), c.Wait()); err != nil {
			t.Errorf("%s: %v: %s", args[0], err, out)
		}
	})
	return out
}

// log collects what a command logs.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// waitFor waits until the log says something.
func (l *log) waitFor(t *testing.T, text string) {
	t.Helper()
	l.find(t, "("+regexp.QuoteMeta(text)+")")
}

// find waits until the log has a pattern, and returns what is in its parentheses.
func (l *log) find(t *testing.T, pattern string) string {
	t.Helper()
	wanted := regexp.MustCompile(pattern)
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if found := wanted.FindStringSubmatch(l.String()); found != nil {
			return found[1]
		}
	}
	t.Fatalf("the log does not say %q: %s", pattern, l)
	return ""
}

// Patterns of a log.
const (
	servingAt    = `msg=serving address=(\S+)\s`
	monitoringAt = `msg=monitoring address=(\S+)\s`
)

// page returns the status and the text of a page.
func page(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
