package parties

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of a process.
const (
	startTime = time.Minute      // until it serves
	stopTime  = 10 * time.Second // until it is killed after an interrupt
	lastLines = 20               // of its log, for the error when it fails
)

// process is a running hushgrad command.
type process struct {
	command string
	pid     int
	signal  func(os.Signal) error
	ended   chan struct{}
	failed  error // how it ended, once ended is closed
	log     *log
}

// start starts a command of the binary. It ends when it is stopped, and where the system allows it,
// when this process does.
func start(binary string, args ...string) (*process, error) {
	cmd := exec.Command(binary, args...)
	p := &process{command: args[0], ended: make(chan struct{}), log: &log{serving: map[string]bool{}, changed: make(chan struct{}, 1)}}
	cmd.Stderr, cmd.WaitDelay = p.log, stopTime
	endWithParent(cmd)
	started := make(chan error)
	go func() {
		// Linux takes the end of the thread that has started the process for the end of its parent.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.failed = cmd.Wait()
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	p.pid, p.signal = cmd.Process.Pid, cmd.Process.Signal
	return p, nil
}

// serving waits until the process serves on all these addresses.
func (p *process) serving(ctx context.Context, addresses []string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for !p.log.serves(addresses) {
		select {
		case <-p.log.changed:
		case <-p.ended: // stop says how
			return fmt.Errorf("hushgrad %s ended before it served", p.command)
		case <-ctx.Done():
			return fmt.Errorf("hushgrad %s: %w", p.command, ctx.Err())
		}
	}
	return nil
}

// stop interrupts the process and waits for its end. The error is about a process that fails.
func (p *process) stop() error {
	if p.signal(os.Interrupt) != nil { // it has ended, or the system has no interrupts
		_ = p.signal(os.Kill)
	}
	select {
	case <-p.ended:
	case <-time.After(stopTime):
		_ = p.signal(os.Kill)
		<-p.ended
	}
	if p.failed != nil {
		return fmt.Errorf("hushgrad %s: %w\n%s", p.command, p.failed, p.log)
	}
	return nil
}

// log keeps the last lines that a process writes, and the addresses on which it says it serves.
type log struct {
	mu      sync.Mutex
	rest    []byte // of a line that has not ended
	lines   []string
	serving map[string]bool
	changed chan struct{} // has room for one
}

// Write implements io.Writer.
func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	for {
		line, rest, ended := bytes.Cut(l.rest, []byte("\n"))
		if !ended {
			return len(b), nil
		}
		l.add(string(line))
		l.rest = bytes.Clone(rest)
	}
}

func (l *log) add(line string) {
	if l.lines = append(l.lines, line); len(l.lines) > lastLines {
		l.lines = l.lines[1:]
	}
	var entry struct{ Msg, Address string }
	if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "serving" {
		l.serving[entry.Address] = true
		select {
		case l.changed <- struct{}{}:
		default:
		}
	}
}

func (l *log) serves(addresses []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !slices.ContainsFunc(addresses, func(a string) bool { return !l.serving[a] })
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(append(l.lines, string(l.rest)), "\n")
}
