package shuffler

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal"
)

// listener remembers who has connected.
type listener struct {
	net.Listener
	mu   sync.Mutex
	seen []string
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.seen = append(l.seen, c.RemoteAddr().String())
	}
	return c, err
}

// peers returns the addresses of all who have connected.
func (l *listener) peers() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen
}

func listenTCP(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// listen lets a shuffler serve on a port, until the test ends.
func listen(t *testing.T, p *party) *listener {
	t.Helper()
	l := &listener{Listener: listenTCP(t)}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, Listeners{Clients: l}) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l
}

// wire is a proxy that keeps what goes to the server.
type wire struct {
	address string
	mu      sync.Mutex
	bytes   []byte
}

func tap(t *testing.T, server *recorder) *wire {
	t.Helper()
	g := grpc.NewServer()
	service.RegisterRoundsServer(g, server)
	service.RegisterShuffledServer(g, server)
	behind, front := listenTCP(t), listenTCP(t)
	var running sync.WaitGroup
	running.Go(func() { _ = g.Serve(behind) })
	t.Cleanup(func() {
		_ = front.Close()
		g.Stop()
		running.Wait()
	})
	w := &wire{address: front.Addr().String()}
	running.Go(func() {
		for {
			in, err := front.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", behind.Addr().String())
			if err != nil {
				return
			}
			running.Go(func() {
				_, _ = io.Copy(io.MultiWriter(out, w), in)
				_ = out.Close()
			})
			running.Go(func() {
				_, _ = io.Copy(in, out)
				_ = in.Close()
			})
		}
	})
	return w
}

// Write implements io.Writer.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes = append(w.bytes, p...)
	return len(p), nil
}

// has reports whether something went to the server.
func (w *wire) has(what []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Contains(w.bytes, what)
}

// dial returns a connection through the proxy.
func (w *wire) dial(t *testing.T) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient(w.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// One report fewer than the floor, and no byte of any report reaches the server's wire: not while
// the operator closes the round, not over a restart, and not when the deadline comes. The one that
// is missing lets all of them go.
func TestBelowTheFloorNothingLeaves(t *testing.T) {
	t.Parallel() // it mostly waits
	const floor = 8
	for name, complete := range map[string]bool{"the deadline comes": false, "the last report comes": true} {
		t.Run(name, func(t *testing.T) {
			server, clock := newRecorder(), newClock()
			w := tap(t, server)
			cfg := Config{Floor: floor, Journal: journal.NewMemory(), Secrets: t.TempDir(), Now: clock.now}
			r := newSealedRound(t, func(r *fl.Round) { r.Deadline, r.TargetReports = clock.at.AddDate(0, 0, 1), 5 })
			server.open(r.Round)
			server.close("r")
			items := r.items(t, floor)
			silent := func(when string) {
				t.Helper()
				for _, item := range items {
					if w.has(item[:16]) || w.has(item[len(item)-16:]) {
						t.Fatalf("%s: a report is on the wire", when)
					}
				}
				if calls := server.callsNow(); calls > 0 {
					t.Fatalf("%s: %d calls of ForwardReports", when, calls)
				}
			}
			cfg.Upstream = w.dial(t)
			p := start(t, cfg, server)
			p.keeps(t, r, floor-2, 0, items[:floor-2]...)
			p.look(t, r)
			silent("before the restart")
			p.Shuffler.Close()
			p = start(t, cfg, server)
			p.keeps(t, r, 1, 1, items[floor-3:floor-1]...)
			p.look(t, r)
			silent("after the restart")
			if complete {
				p.keeps(t, r, 1, 0, items[floor-1])
				p.gone(t, "r", forwarded)
				if !w.has(items[0][:16]) {
					t.Error("no report was on the wire in the end: the test sees nothing")
				}
				return
			}
			clock.add(48 * 3600e9)
			p.gone(t, "r", expired)
			silent("after the deadline")
		})
	}
}
