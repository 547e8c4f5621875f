package server

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/durable/outage"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

var (
	kills   = flag.Int("kills", 4, "how often TestAKilledServerLosesNothing kills the server")
	clients = flag.Int("clients", 1000, "clients of TestAKilledServerLosesNothing")
)

// serveIn names the environment variable that makes the test binary a server, with its
// journal in the directory that it names.
const serveIn = "HUSHGRAD_TEST_SERVE_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(serveIn); dir != "" {
		if err := serveProcess(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	_ = flag.Set("test.parallel", "8") // most parallel tests wait. A value on the command line is read later
	os.Exit(m.Run())
}

// serveProcess serves until SIGTERM, and prints its address on a line.
func serveProcess(dir string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	kept, err := disk.Open(dir, disk.Options{MinFree: 1})
	if err != nil {
		return err
	}
	s, err := New(Config{Journal: kept})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", os.Getenv(serveIn+"_AT"))
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	if err := s.Serve(ctx, Listeners{Clients: l}); err != nil {
		return err
	}
	return kept.Close()
}

// process is a server in a process of its own.
type process struct {
	cmd     *exec.Cmd
	address string
	log     bytes.Buffer
}

func startProcess(t *testing.T, dir, at string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), serveIn+"="+dir, serveIn+"_AT="+at)
	p.cmd.Stderr = &p.log
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	line := make([]byte, 64)
	n, err := out.Read(line)
	if err != nil {
		_ = p.cmd.Wait()
		t.Fatalf("the server did not start: %v\n%s", err, &p.log)
	}
	p.address = strings.TrimSpace(string(line[:n]))
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return p
}

// end sends a signal and returns how the process ended.
func (p *process) end(signal os.Signal) error {
	return errors.Join(p.cmd.Process.Signal(signal), p.cmd.Wait())
}

// A server that is killed again and again, in the midst of clients who send one report each
// and send some of them twice, counts every report once. Its aggregators end up with the same
// bytes as the aggregators of a server that nobody killed. A server that is stopped by SIGTERM does the
// same, exits with 0 and logs what was in flight.
func TestAKilledServerLosesNothing(t *testing.T) {
	power := outage.Disk(t, "server")
	dir := power + "/data"
	rng := rand.New(rand.NewPCG(1, 2))
	p := startProcess(t, dir, "127.0.0.1:0")
	load := newLoad(t, p, *clients)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		load.run(t.Context())
	}()
	for i := range *kills {
		// Somewhere in the part of the load that belongs to this kill.
		at := int64((float64(i) + rng.Float64()) * float64(*clients) / float64(*kills))
		for load.sent.Load() < at {
			time.Sleep(time.Millisecond)
		}
		if i%4 == 3 {
			if err := p.end(syscall.SIGTERM); err != nil || !strings.Contains(p.log.String(), "calls_in_flight=") {
				t.Errorf("after SIGTERM: %v\n%s", err, &p.log)
			}
			p = startProcess(t, dir, p.address)
		}
		outage.During(t, power, func() { _ = p.end(syscall.SIGKILL) }) // it says that it was killed
		p = startProcess(t, dir, p.address)
	}
	<-finished
	outage.During(t, power, func() { _ = p.end(syscall.SIGKILL) })

	kept, err := disk.Open(dir, disk.Options{MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	got := call(t, kept, smallRound())
	if n := got.round.head().reports; n != int64(*clients) {
		t.Errorf("%d reports counted, %d sent (%d duplicates acknowledged)", n, *clients, load.duplicates.Load())
	}
	if want := load.sum(t); !bytes.Equal(got.counted(), want) {
		t.Error("the aggregators are not the aggregators of a server that nobody killed")
	}
	if load.duplicates.Load() == 0 {
		t.Error("nothing was sent twice")
	}
	got.Close()
}

// load is clients who send one report each.
type load struct {
	t          *testing.T
	api        service.RoundsClient
	round      fl.Round
	digest     [32]byte
	mechanism  fl.Mechanism
	reports    [][]byte
	sent       atomic.Int64 // acknowledged
	duplicates atomic.Int64
}

// newLoad opens a round on a server, and makes what n clients send.
func newLoad(t *testing.T, p *process, n int) *load {
	t.Helper()
	conn, err := grpc.NewClient(p.address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: time.Second}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	opened, err := service.NewOperatorClient(conn).OpenRound(t.Context(), &service.OpenRoundRequest{Round: smallRound().Proto()})
	if err != nil {
		t.Fatal(err)
	}
	l := &load{t: t, api: service.NewRoundsClient(conn), reports: make([][]byte, n)}
	if l.round, err = fl.RoundFromProto(opened.GetRound()); err != nil {
		t.Fatal(err)
	}
	if l.digest, err = l.round.Digest(); err != nil {
		t.Fatal(err)
	}
	if l.mechanism, err = fl.Open(l.round); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range l.reports {
		if l.reports[i], err = l.mechanism.Encode(nil, make([]float64, l.round.Dim), rng); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// run lets all clients send, 32 at a time. One in 20 sends again what was acknowledged.
func (l *load) run(ctx context.Context) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range 32 {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(l.reports)); i = next.Add(1) - 1 {
				l.send(ctx, i)
				if i%20 == 0 {
					l.send(ctx, i)
				}
				l.sent.Add(1)
			}
		})
	}
	wg.Wait()
}

// send sends one client's report until it is acknowledged.
func (l *load) send(ctx context.Context, i int64) {
	for ctx.Err() == nil {
		resp, err := l.once(ctx, i)
		if err == nil {
			if resp.GetAccepted()+resp.GetDuplicates() != 1 {
				l.t.Errorf("client %d: %v", i, resp)
			}
			l.duplicates.Add(int64(resp.GetDuplicates()))
			return
		}
		if status.Code(err) == codes.NotFound {
			l.t.Errorf("client %d: the round is lost: %v", i, err)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (l *load) once(ctx context.Context, i int64) (*service.SubmitReportsResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	stream, err := l.api.SubmitReports(ctx)
	if err != nil {
		return nil, err
	}
	_ = stream.Send(&service.SubmitReportsRequest{ // CloseAndRecv has the reason
		RoundId: l.round.ID, RoundDigest: l.digest[:], BatchKey: fmt.Appendf(nil, "client-%012d", i), Reports: l.reports[i],
	})
	return stream.CloseAndRecv()
}

// sum returns the snapshot of an aggregator that counted every report once.
func (l *load) sum(t *testing.T) []byte {
	t.Helper()
	sum := l.mechanism.NewAggregator()
	if err := fl.AddBatch(l.mechanism, sum, l.reports); err != nil {
		t.Fatal(err)
	}
	data, err := sum.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
