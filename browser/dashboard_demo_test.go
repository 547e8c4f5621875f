package browser

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// demo is a running examples/mnist.
type demo struct {
	url   string
	run   *os.Process
	ended chan struct{} // closed when it has ended
	err   error
	out   bytes.Buffer
}

// train starts the demo with a dashboard, for a number of rounds and with more flags, and returns when the page is there.
func train(t *testing.T, rounds string, more ...string) *demo {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "mnist")
	inModule(t, "go", "build", "-o", binary, "./examples/mnist")
	d := &demo{ended: make(chan struct{})}
	run := exec.CommandContext(t.Context(), binary, append([]string{"--dashboard", "--rounds", rounds, "--cohort", "60000", "--mechanism", "coco", "--epsilon", "4"}, more...)...)
	run.Stdout = &d.out
	stderr, err := run.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	d.run = run.Process
	url := make(chan string, 1)
	var reading sync.WaitGroup
	reading.Go(func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if found := regexp.MustCompile(`dashboard: (http\S+)`).FindStringSubmatch(lines.Text()); found != nil {
				url <- found[1]
			}
		}
	})
	go func() { reading.Wait(); d.err = run.Wait(); close(d.ended) }()
	t.Cleanup(func() { <-d.ended }) // the test's context kills it
	select {
	case d.url = <-url:
	case <-d.ended:
		t.Fatalf("the demo has ended without a page: %v\n%s", d.err, &d.out)
	case <-time.After(4 * time.Minute):
		t.Fatal("the demo shows no page")
	}
	return d
}

// halt stops the process of the demo until look has returned: a fast machine ends the run while a page is looked at.
func (d *demo) halt(t *testing.T, look func()) {
	t.Helper()
	if err := d.run.Signal(syscall.SIGSTOP); err != nil {
		t.Fatalf("the run has ended before the page has shown any of it: %v", err)
	}
	defer d.run.Signal(syscall.SIGCONT)
	look()
}
