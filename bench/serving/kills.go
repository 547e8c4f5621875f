package serving

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/client"
)

const (
	reportsPerKill = 500 // by as many clients
	sentAgain      = 20  // one in this many acknowledged reports is sent again
)

// kills is a server with a journal on disk that is killed while clients send one report each.
type kills struct {
	bench    *bench
	progress *progress.Bar
	dir      string
	round    *round
	after    []uint64 // acknowledgements after which the server is killed, in order

	mu           sync.Mutex
	server       *server
	restarted    chan struct{} // closed when server is another one
	acknowledged uint64
	again        uint64 // reports that were sent again after their acknowledgement
}

// damage is what the kills did.
type damage struct {
	kills     int
	reports   uint64 // by as many clients
	again     uint64 // sent once more after their acknowledgement
	counted   uint64
	identical bool // the estimate has the bits of one without a server
}

// values are what a checkpoint keeps.
func (d damage) values() []float64 {
	identical := 0.0
	if d.identical {
		identical = 1
	}
	return []float64{float64(d.kills), float64(d.reports), float64(d.again), float64(d.counted), identical}
}

func damageOf(v []float64) damage {
	return damage{kills: int(v[0]), reports: uint64(v[1]), again: uint64(v[2]), counted: uint64(v[3]), identical: v[4] == 1}
}

// killed runs the exercise. The seed decides after which acknowledgements the server is killed.
func (b *bench) killed(ctx context.Context, env experiment.Env) (d damage, err error) {
	k := &kills{bench: b, progress: env.Progress, restarted: make(chan struct{})}
	if k.dir, err = os.MkdirTemp(b.work, "killed-"); err != nil {
		return d, err
	}
	d.kills, d.reports = b.kills, uint64(b.kills*reportsPerKill)
	for _, at := range experiment.Stream(env.Seed, 3).Perm(int(d.reports) - 1)[:b.kills] {
		k.after = append(k.after, uint64(at)+1)
	}
	slices.Sort(k.after)
	if k.server, err = b.durable(ctx, k.dir); err != nil {
		return d, err
	}
	t := traffic{load: b.wide, reports: 1, limit: int(d.reports)}
	if k.round, err = k.server.open(ctx, t); err == nil {
		err = k.send(ctx)
	}
	if err == nil {
		d.again = k.again
		err = k.compare(ctx, &d)
	}
	return d, errors.Join(err, k.server.Kill())
}

// send lets all clients send their reports until each is acknowledged.
func (k *kills) send(ctx context.Context) error {
	group, inner := errgroup.WithContext(ctx)
	for worker := range uint64(streamers) {
		group.Go(func() error {
			var again []uint64
			for n := worker; n < k.round.messages; n += streamers {
				if _, err := k.deliver(inner, n); err != nil {
					return err
				}
				if err := k.acknowledge(ctx); err != nil {
					return err
				}
				if n%sentAgain == 0 {
					again = append(again, n)
				}
				if len(again) > 2 { // later than its acknowledgement, and often after a kill
					if err := k.repeat(inner, again[0]); err != nil {
						return err
					}
					again = again[1:]
				}
			}
			for _, n := range again {
				if err := k.repeat(inner, n); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// repeat sends a report that was acknowledged once more.
func (k *kills) repeat(ctx context.Context, n uint64) error {
	resp, err := k.deliver(ctx, n)
	if err == nil && (resp.GetAccepted() != 0 || resp.GetDuplicates() != 1) {
		err = fmt.Errorf("serving: report %d was counted again", n)
	}
	k.mu.Lock()
	k.again++
	k.mu.Unlock()
	return err
}

// deliver sends report n until it is acknowledged.
func (k *kills) deliver(ctx context.Context, n uint64) (*service.SubmitReportsResponse, error) {
	for {
		k.mu.Lock()
		s, restarted := k.server, k.restarted
		k.mu.Unlock()
		stream, err := service.NewRoundsClient(s.Conns[int(n)%len(s.Conns)]).SubmitReports(ctx)
		if err == nil {
			_ = stream.Send(k.round.request(n)) // what is wrong comes with the answer
			var resp *service.SubmitReportsResponse
			if resp, err = stream.CloseAndRecv(); err == nil {
				return resp, nil
			}
		}
		if code := status.Code(err); code != codes.Unavailable && code != codes.Canceled {
			return nil, err
		}
		select {
		case <-restarted:
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// acknowledge counts an acknowledgement. When it is time, it kills the server and starts another,
// which lives until ctx ends.
func (k *kills) acknowledge(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.acknowledged++; len(k.after) == 0 || k.acknowledged < k.after[0] {
		return nil
	}
	k.after = k.after[1:]
	if err := k.server.Kill(); err != nil {
		return err
	}
	s, err := k.bench.durable(ctx, k.dir)
	if err != nil {
		return err
	}
	k.server = s
	close(k.restarted)
	k.restarted = make(chan struct{})
	k.progress.Step()
	return nil
}

// compare closes the round and compares its estimate with the estimate of the same reports, counted
// once each by an aggregator in this process.
func (k *kills) compare(ctx context.Context, d *damage) error {
	operator := client.NewOperator(k.server.Conns[0])
	if err := operator.CloseRound(ctx, k.round.ID); err != nil {
		return err
	}
	got, err := operator.Estimate(ctx, k.round.ID, true)
	if err != nil {
		return err
	}
	agg := k.round.load.mechanism.NewAggregator()
	for n := range k.round.messages {
		if err := agg.Add(k.round.request(n).Reports); err != nil {
			return err
		}
	}
	want, err := agg.Estimate()
	if err != nil {
		return err
	}
	d.counted = uint64(got.Reports)
	d.identical = slices.EqualFunc(got.Columns, want.Columns, func(a, b fl.Column) bool {
		return a.Name == b.Name && sameBits(a.Value, b.Value) && sameBits(a.StdErr, b.StdErr)
	})
	return nil
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}
