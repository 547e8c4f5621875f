package shuffler

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/durable/outage"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/internal/issuer"
)

var (
	kills   = flag.Int("kills", 2, "how often TestKilledRolesLoseNothing kills the server, and how often the shuffler")
	senders = flag.Int("clients", 40, "clients of TestKilledRolesLoseNothing")
)

// A shuffler and a server that are killed again and again, in the midst of clients who send one
// report with two tokens each and send some of them twice, and in the midst of forwarding, count every
// report once. The estimate is the estimate of a server that nobody killed. Of a mechanism for two servers one sum leaves the
// second server, and the first one releases one estimate, also where both are killed after the sum has left.
func TestKilledRolesLoseNothing(t *testing.T) {
	t.Run("one server", func(t *testing.T) { killRoles(t, outage.Disk(t, "shuffler"), *kills, nil) })
	for name, c := range map[string]struct {
		kills int
		round func(*fl.Round)
	}{
		"two servers": {*kills, sharedRound},
		"with proofs": {*kills / 10, provedRound}, // the same course, and more work at each step
	} {
		if c.kills == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := outage.Disk(t, "shuffler-"+strings.ReplaceAll(name, " ", "-"))
			killRoles(t, dir, c.kills, func(r *fl.Round) {
				c.round(r)
				r.ShareKey = shareKeyIn(t, dir)
			})
		})
	}
}

func killRoles(t *testing.T, dir string, kills int, change func(*fl.Round)) {
	rng := rand.New(rand.NewPCG(5, 6))
	parameter := startProcess(t, "server", outage.Disk(t, "server-of-"+filepath.Base(dir)), "")
	conn, err := dial(parameter.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	operator := client.NewOperator(conn)
	upstream := parameter.address
	var seen *witness // of two servers
	if change != nil {
		seen = startWitness(t, upstream)
		upstream = seen.address
	}
	shuffler := startProcess(t, "shuffler", dir, upstream)
	load := newLoad(t, operator, shuffler.address, *senders, change)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		load.run(t.Context())
	}()
	// Half of the kills come while clients send, the others while the shuffler forwards.
	half := kills / 2
	killed := []*process{parameter, shuffler}
	for i := range 2 * half {
		at := int64((float64(i) + rng.Float64()) * float64(*senders) / float64(2*half))
		eventually(t, "reports", func() bool { return load.sent.Load() >= at })
		killed[i%2].again(t, i/2)
	}
	<-finished
	for i := range 2 * (kills - half) {
		before := counted(t, operator)
		eventually(t, "forwarded reports", func() bool { n := counted(t, operator); return n > before || n == int64(*senders) })
		killed[i%2].again(t, i/2)
	}
	if seen != nil {
		seen.watch(t, operator)
		for i := range 2 * min(kills-half, 10) { // each time all reports are forwarded again
			before := seen.left()
			eventually(t, "a sum", func() bool { return seen.left() > before })
			killed[i%2].again(t, i/2)
		}
		seen.letGo()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got *fl.Estimate
	eventually(t, "the server", func() bool {
		got, err = operator.Estimate(ctx, "r", true)
		return status.Code(err) != codes.Unavailable
	})
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, &parameter.log, &shuffler.log)
	}
	if change == nil {
		if want := load.estimate(t); !reflect.DeepEqual(got, want) {
			t.Errorf("the estimate of %d reports is %v, want of %d, %v", got.Reports, got.Mean(), want.Reports, want.Mean())
		}
	} else {
		if got.Reports != int64(*senders) {
			t.Errorf("%d reports, want %d", got.Reports, *senders)
		}
		for i, v := range got.Mean().Value { // 4 normal coordinates are all within 7 standard errors but with probability 1e-11
			if stdErr := got.Mean().StdErr[i]; !(math.Abs(v-load.gradient[i]) <= 7*stdErr) {
				t.Errorf("mean[%d] = %g ± %g, want %g", i, v, stdErr, load.gradient[i])
			}
		}
		for i, role := range []*process{shuffler, parameter, shuffler} { // each a while after the other
			role.again(t, i)
			eventually(t, "the estimate", func() bool { return seen.ask(t.Context(), operator) })
		}
		seen.requireOneRelease(t)
	}
	if load.duplicates.Load() == 0 {
		t.Error("nothing was sent twice")
	}
}

// counted returns the reports that the server has counted, which may be away for a moment.
func counted(t *testing.T, operator *client.Operator) (n int64) {
	t.Helper()
	eventually(t, "the server", func() bool {
		rounds, err := operator.Rounds(t.Context())
		if err == nil {
			n = int64(rounds[0].Reports)
		}
		return err == nil
	})
	return n
}

// load is clients who send one sealed report with a token each.
type load struct {
	t          *testing.T
	round      *sealedRound
	clients    service.RoundsClient
	gradient   []float64 // everybody's
	reports    [][]byte
	sealed     [][]byte
	outer      [][]byte     // tokens for the shuffler
	sent       atomic.Int64 // acknowledged
	duplicates atomic.Int64
}

// newLoad opens a round that asks for tokens, and makes what n clients send.
func newLoad(t *testing.T, operator *client.Operator, shuffler string, n int, change func(*fl.Round)) *load {
	t.Helper()
	conn, err := dial(shuffler)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	i, key := theIssuer(t)
	l := &load{t: t, clients: service.NewRoundsClient(conn), reports: make([][]byte, n), sealed: make([][]byte, n), outer: make([][]byte, n)}
	l.round = newSealedRound(t, func(r *fl.Round) {
		if change != nil {
			change(r)
		}
		r.IssuerKey, r.OuterIssuerKey, r.MinReports, r.TargetReports, r.SealKey = key.PublicKey, key.OuterPublicKey, n, n, nil
		opened, err := operator.OpenRound(t.Context(), *r)
		if err != nil {
			t.Fatal(err)
		}
		*r = opened
	})
	l.gradient = make([]float64, l.round.Dim)
	l.gradient[0], l.gradient[1] = 0.5, -0.75
	for at := range l.reports {
		if l.reports[at], err = l.round.mechanism.Encode(nil, l.gradient, l.round.rng); err != nil {
			t.Fatal(err)
		}
	}
	var workers sync.WaitGroup
	for w := range 2 {
		workers.Go(func() {
			for at := w; at < n; at += 2 {
				if err := l.seal(i, at); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	workers.Wait()
	return l
}

// seal fetches the tokens of a client and seals its report.
func (l *load) seal(i *issuer.Issuer, at int) error {
	name := fmt.Sprint("client ", at)
	token, err := issued(l.t.Context(), i, name, l.round.IssuerKey, l.round.digest)
	if err == nil {
		l.outer[at], err = issued(l.t.Context(), i, name, l.round.OuterIssuerKey, l.round.digest)
	}
	if m, ok := l.round.mechanism.(fl.SeededMechanism); ok && err == nil {
		l.reports[at], err = m.WithSeed(admit.Seed(token)).Encode(nil, l.gradient, nil)
	}
	if err == nil {
		l.sealed[at], err = l.round.sealer.Item(l.reports[at], token)
	}
	return err
}

// run lets all clients send, 32 at a time. One in 20 sends again what was acknowledged.
func (l *load) run(ctx context.Context) {
	var workers sync.WaitGroup
	var next atomic.Int64
	for range 32 {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(l.sealed)); i = next.Add(1) - 1 {
				l.send(ctx, i)
				if i%20 == 0 {
					l.send(ctx, i)
				}
				l.sent.Add(1)
			}
		})
	}
	workers.Wait()
}

// send sends one client's report until it is acknowledged.
func (l *load) send(ctx context.Context, i int64) {
	for ctx.Err() == nil {
		resp, err := sendTo(ctx, l.clients, &service.SubmitReportsRequest{RoundId: l.round.ID, RoundDigest: l.round.digest[:], Reports: l.sealed[i], Tokens: l.outer[i]})
		if err == nil {
			if resp.GetAccepted()+resp.GetDuplicates() != 1 {
				l.t.Errorf("client %d: %v", i, resp)
			}
			l.duplicates.Add(int64(resp.GetDuplicates()))
			return
		}
		if status.Code(err) == codes.FailedPrecondition { // all reports are in, so this one was
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// estimate returns the estimate of an aggregator which counted every report once.
func (l *load) estimate(t *testing.T) *fl.Estimate {
	t.Helper()
	sum := l.round.mechanism.NewAggregator()
	if err := fl.AddBatch(l.round.mechanism, sum, l.reports); err != nil {
		t.Fatal(err)
	}
	e, err := sum.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	return e
}
