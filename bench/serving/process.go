package serving

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/prometheus/procfs"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// connections of the clients to a server. Each carries the calls of several clients.
const connections = 8

// Process is a server process with connections to it.
type Process struct {
	ctx    context.Context // its end kills the process
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr *strings.Builder
	ended  chan error
	Conns  []*grpc.ClientConn

	address string // as it said itself
}

// Build compiles the server process and returns its path.
func Build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "process")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/hushgrad/hushgrad/bench/serving/process").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
}

// Start starts a server process and connects to it. It is killed when ctx ends.
func Start(ctx context.Context, binary string, args ...string) (p *Process, err error) {
	p = &Process{ctx: ctx, cmd: exec.CommandContext(ctx, binary, args...), stderr: &strings.Builder{}, ended: make(chan error, 1)}
	p.cmd.Stderr = p.stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	address, err := bufio.NewReader(stdout).ReadString('\n')
	go func() { p.ended <- p.cmd.Wait() }()
	if err != nil { // it ended before it listened
		return nil, errors.Join(ctx.Err(), p.failed(<-p.ended))
	}
	p.address = strings.TrimSpace(address)
	for range connections {
		conn, err := grpc.NewClient(p.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, errors.Join(err, p.Kill())
		}
		p.Conns = append(p.Conns, conn)
	}
	return p, nil
}

// failed describes the end of a process that should not have ended so.
func (p *Process) failed(err error) error {
	return fmt.Errorf("server process: %v\n%s", err, p.stderr)
}

// Stop ends the process and waits for it.
func (p *Process) Stop() error {
	p.hangUp()
	_ = p.stdin.Close() // it is closed, or there is nobody to read it
	if err := <-p.ended; err != nil && p.ctx.Err() == nil {
		return p.failed(err)
	}
	return nil
}

// Kill ends the process at once, as kill -9 does.
func (p *Process) Kill() error {
	err := p.cmd.Process.Kill()
	<-p.ended // says that it was killed
	p.hangUp()
	return err
}

func (p *Process) hangUp() {
	for _, conn := range p.Conns {
		_ = conn.Close()
	}
}

// processorSeconds is the processor time that a process has used. Go ends hardly any thread,
// and a thread's time goes with it.
func processorSeconds(pid int) (seconds float64, err error) {
	threads, err := procfs.AllThreads(pid)
	if err != nil {
		return 0, err
	}
	for _, thread := range threads {
		stat, err := thread.Schedstat()
		if err != nil {
			return 0, err
		}
		seconds += float64(stat.RunningNanoseconds) * 1e-9
	}
	return seconds, nil
}

// Processors is the processor time of the server's process and of this one, in seconds.
func (p *Process) Processors() (server, clients float64, err error) {
	server, err = processorSeconds(p.cmd.Process.Pid)
	if err == nil {
		clients, err = processorSeconds(os.Getpid())
	}
	return server, clients, err
}

// PeakBytes is the largest memory that the process has had: VmHWM.
func (p *Process) PeakBytes() (float64, error) {
	proc, err := procfs.NewProc(p.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	status, err := proc.NewStatus()
	return float64(status.VmHWM), err
}
