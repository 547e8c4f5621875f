package shuffler

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/client"
)

// witness stands between a shuffler and its server, and outlives both. It keeps every sum that leaves the second server, whether
// the first one gets it or not, and every estimate that the first one releases.
type witness struct {
	service.UnimplementedRoundsServer
	service.UnimplementedShuffledServer
	address  string
	rounds   service.RoundsClient
	shuffled service.ShuffledClient

	mu        sync.Mutex
	sums      map[string]int // how often each one left
	estimates map[string]int
	holds     bool // sums do not reach the server
	calls     int  // with a sum
}

// startWitness returns a witness in front of a server, which holds sums back.
func startWitness(t *testing.T, server string) *witness {
	t.Helper()
	to, err := dial(server)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{
		address: l.Addr().String(), rounds: service.NewRoundsClient(to), shuffled: service.NewShuffledClient(to),
		sums: map[string]int{}, estimates: map[string]int{}, holds: true,
	}
	g := grpc.NewServer()
	service.RegisterRoundsServer(g, w)
	service.RegisterShuffledServer(g, w)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(func() {
		g.Stop()
		_ = to.Close()
	})
	return w
}

func (w *witness) GetRound(ctx context.Context, req *service.GetRoundRequest) (*service.GetRoundResponse, error) {
	return w.rounds.GetRound(ctx, req)
}

func (w *witness) ForwardReports(ctx context.Context, req *service.ForwardReportsRequest) (*service.ForwardReportsResponse, error) {
	return w.shuffled.ForwardReports(ctx, req)
}

// CompleteRound notes the sum, and loses it while sums are held back.
func (w *witness) CompleteRound(ctx context.Context, req *service.CompleteRoundRequest) (*service.CompleteRoundResponse, error) {
	if w.saw(req.GetShareSum()) {
		return nil, status.Error(codes.Unavailable, "held back")
	}
	return w.shuffled.CompleteRound(ctx, req)
}

func (w *witness) saw(sum []byte) (held bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sums[string(sum)]++
	w.calls++
	return w.holds
}

// left returns how many calls with a sum have come.
func (w *witness) left() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls
}

// letGo lets sums reach the server.
func (w *witness) letGo() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holds = false
}

// ask notes the estimate, if there is one, and returns whether there is.
func (w *witness) ask(ctx context.Context, operator *client.Operator) bool {
	got, err := operator.Estimate(ctx, "r", false)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.estimates[fmt.Sprint(got.Reports, got.Columns)]++
	}
	return err == nil
}

// watch asks for the estimate again and again until the test ends, whatever is killed meanwhile.
func (w *witness) watch(t *testing.T, operator *client.Operator) {
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
			w.ask(ctx, operator)
		}
	})
	t.Cleanup(func() { // before the connection is closed
		stop()
		watching.Wait()
	})
}

// requireOneRelease checks that one sum has left, several times, and that there is one estimate, which was seen several times.
func (w *witness) requireOneRelease(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for what, seen := range map[string]map[string]int{"sums": w.sums, "estimates": w.estimates} {
		times := 0
		for value, n := range seen {
			if times += n; value == "" {
				t.Errorf("one of the %s is empty", what)
			}
		}
		if len(seen) != 1 || times < 2 {
			t.Errorf("%d different %s were released in %d times, want one, and more times", len(seen), what, times)
		}
	}
}
