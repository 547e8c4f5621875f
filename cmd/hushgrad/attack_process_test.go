package main

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/seal"
)

// Roles that strangers reach.
const (
	serverRole   = "serve"
	shufflerRole = "shuffle"
	relayRole    = "relay"
)

// process is a "hushgrad serve" or "hushgrad shuffle" with an open round and a well-behaved client.
type process struct {
	command           *exec.Cmd
	clients, operator string                               // addresses, the operator's always the server's
	request           func() *service.SubmitReportsRequest // with one report

	// What was seen during the last attack.
	slowest [2]time.Duration // of GetRound and SubmitReports
	calls   int
	files   int // open at most
}

func dialServe(t testing.TB, address string) *grpc.ClientConn {
	t.Helper()
	wait := backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 100 * time.Millisecond} // the process may just have been started
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: wait, MinConnectTimeout: 20 * time.Second}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// startCommand runs a hushgrad command in a process of its own until the test ends, with new state unless
// the arguments say where it is.
func startCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	if args[0] != relayRole && !slices.Contains(args, "--data") {
		args = append(args, "--data", filepath.Join(t.TempDir(), "data"))
	}
	command := exec.Command(os.Args[0], args...)
	command.Env = append(os.Environ(), asCommand+"=1")
	var out log
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%.4000s", args[0], out.text.String())
		}
	})
	return command
}

// startVictim runs a role in front of strangers until the test ends. A shuffler has a server of its
// own behind it.
func startVictim(t *testing.T, role string) *process {
	t.Helper()
	p := &process{clients: freeAddress(t), operator: freeAddress(t)}
	wanted := fl.Round{ID: "r", Mechanism: "coco", Dim: 20, Scale: 0.5, Epsilon: 2, MinReports: 1, Params: fl.Params{"sparsity": fl.Int(4)}}
	switch role {
	case serverRole:
		p.command = startCommand(t, "serve", "--listen", p.clients, "--operator-listen", p.operator)
	case shufflerRole:
		wanted.Shuffler = "shuffler.test"
		upstream := freeAddress(t)
		startCommand(t, "serve", "--listen", freeAddress(t), "--operator-listen", p.operator, "--shuffler-listen", upstream)
		p.command = startCommand(t, "shuffle", "--listen", p.clients, "--name", wanted.Shuffler, "--upstream", upstream)
	}
	operator := client.NewOperator(dialServe(t, p.operator))
	var round fl.Round
	untilAvailable(t, func() (err error) {
		round, err = operator.OpenRound(t.Context(), wanted)
		return err
	})
	clients := service.NewRoundsClient(dialServe(t, p.clients))
	untilAvailable(t, func() error {
		_, err := clients.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"})
		return err
	})
	p.request = requests(t, round)
	return p
}

// untilAvailable calls a process that has just been started, until it answers.
func untilAvailable(t *testing.T, call func() error) {
	t.Helper()
	for tries := 0; ; tries++ {
		err := call()
		if err == nil {
			return
		}
		if status.Code(err) != codes.Unavailable || tries == 500 {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// nextPort is below the ports that systems give to whoever asks for any, so that no other test is given
// the port of an address that is free until its server listens.
var nextPort atomic.Uint32

func init() { nextPort.Store(20_000 + rand.Uint32N(10_000)) }

func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", nextPort.Add(1)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// requests returns a source of good requests, each of one report.
func requests(t *testing.T, round fl.Round) func() *service.SubmitReportsRequest {
	t.Helper()
	digest, err := round.Digest()
	if err != nil {
		t.Fatal(err)
	}
	m, err := fl.Open(round)
	if err != nil {
		t.Fatal(err)
	}
	report, err := m.Encode(nil, make([]float64, round.Dim), nil)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := fl.PackReports(m, nil, report)
	if err != nil {
		t.Fatal(err)
	}
	if round.Shuffler != "" {
		sealer, err := seal.NewSealer(round.SealKey, digest)
		if err != nil {
			t.Fatal(err)
		}
		return func() *service.SubmitReportsRequest {
			sealed, err := sealer.Seal(nil, report)
			if err != nil {
				t.Error(err)
			}
			return &service.SubmitReportsRequest{RoundId: round.ID, RoundDigest: digest[:], Reports: sealed}
		}
	}
	return func() *service.SubmitReportsRequest {
		key := make([]byte, 16)
		_, _ = crand.Read(key) // never fails
		return &service.SubmitReportsRequest{RoundId: round.ID, RoundDigest: digest[:], BatchKey: key, Reports: packed}
	}
}

// behave calls the server as a good client does, until ctx ends, and returns the first error.
// A call that finds the server unavailable is tried again, and the time of all tries counts.
func (p *process) behave(ctx context.Context, rounds service.RoundsClient) error {
	var failed error
	p.slowest, p.calls, p.files = [2]time.Duration{}, 0, 0
	timed := func(slowest *time.Duration, call func(context.Context) error) {
		start := time.Now()
		patience, cancel := context.WithTimeout(context.Background(), attackPatience)
		defer cancel()
		err := call(patience)
		for status.Code(err) == codes.Unavailable && patience.Err() == nil {
			time.Sleep(10 * time.Millisecond)
			err = call(patience)
		}
		took := time.Since(start)
		*slowest = max(*slowest, took)
		if err != nil && failed == nil {
			failed = fmt.Errorf("after %v: %w", took, err)
		}
	}
	for ; ctx.Err() == nil && failed == nil; p.calls++ {
		timed(&p.slowest[0], func(ctx context.Context) error {
			_, err := rounds.GetRound(ctx, &service.GetRoundRequest{RoundId: "r"})
			return err
		})
		request := p.request()
		timed(&p.slowest[1], func(ctx context.Context) error { return submitOne(ctx, rounds, request) })
		if open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.command.Process.Pid)); err == nil {
			p.files = max(p.files, len(open))
		}
		time.Sleep(20 * time.Millisecond)
	}
	return failed
}

func submitOne(ctx context.Context, rounds service.RoundsClient, request *service.SubmitReportsRequest) error {
	stream, err := rounds.SubmitReports(ctx)
	if err != nil {
		return err
	}
	_ = stream.Send(request) // its error comes with CloseAndRecv
	resp, err := stream.CloseAndRecv()
	if err == nil && resp.GetAccepted()+resp.GetDuplicates() != 1 {
		return fmt.Errorf("got %v, want one report counted", resp)
	}
	return err
}

// peakMemory is the largest resident memory of the process so far, in bytes.
func (p *process) peakMemory(t *testing.T) int64 { return p.memory(t, "VmHWM") }

// memory is a field of /proc/<pid>/status, in bytes.
func (p *process) memory(t *testing.T, field string) int64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(data), field+":")
	var kB int64
	if _, err := fmt.Sscanf(after, "%d kB", &kB); !found || err != nil {
		t.Fatalf("no %s: %v", field, err)
	}
	return kB << 10
}
