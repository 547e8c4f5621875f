package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/trainer"
)

// site is who holds the rounds: one server in this process, or three parties in processes of
// their own.
type site interface {
	// start starts the parties. close is called also when it fails.
	start(ctx context.Context) error
	// operator opens rounds and reads estimates.
	operator() (*client.Operator, error)
	// connect returns a new connection for clients, and what they demand and have beside it.
	connect() (*grpc.ClientConn, client.Options, error)
	// prepare adds to a round what the parties need of it.
	prepare(ctx context.Context, r *fl.Round) error
	// send sends reports for the clients whose turns are first, first+1, …, and returns the number
	// of bytes. It calls sent for each report.
	send(ctx context.Context, part *client.Participation, first int, reports [][]byte, sent func()) (int64, error)
	// finish lets go of a round that has ended.
	finish(ctx context.Context, id string) error
	close() error
}

// federation is a site, its operator and its clients, who talk over loopback TCP. It is where
// trainer.Run gets its means from.
type federation struct {
	run      *plan.Run
	model    *trainer.Model
	clients  *trainer.Clients
	seed     trainer.Seed
	site     site
	operator *client.Operator
	players  []*player
	bytes    atomic.Int64 // of the reports of this round
	bar      *progress.Bar
	closers  []func() error
}

// player plays many clients, one after the other, over one connection. What they fetch is
// the same for all, so it fetches it once per round. The gradients are those that each client would
// compute alone.
type player struct {
	conn      *grpc.ClientConn
	client    *client.Client
	gradients trainer.Gradients
}

// start starts the site and connects everybody.
func (f *federation) start(ctx context.Context) (err error) {
	f.closers = append(f.closers, f.site.close)
	if err := f.site.start(ctx); err != nil {
		return err
	}
	if f.operator, err = f.site.operator(); err != nil {
		return err
	}
	for range runtime.GOMAXPROCS(0) {
		p := &player{}
		var opts client.Options
		if p.conn, opts, err = f.site.connect(); err != nil {
			return err
		}
		if p.client, err = client.New(p.conn, opts); err != nil {
			return err
		}
		// Most mechanisms clip the L1 norm. What makes it smaller makes the L2 norm larger, which
		// sums clip.
		if p.gradients, err = f.clients.On(f.model, !plan.IsSum(f.run.Mechanism)); err != nil {
			return err
		}
		f.closers, f.players = append(f.closers, p.gradients.Close), append(f.players, p)
	}
	return nil
}

// Mean holds a round: publish the model, open the round, let the cohort take part, and read
// the estimate of its mean gradient.
func (f *federation) Mean(ctx context.Context, i int, params []float64) (*fl.Estimate, error) {
	var weights bytes.Buffer
	if err := trainer.WriteWeights(&weights, f.model, params); err != nil {
		return nil, err
	}
	if _, err := f.operator.PutModel(ctx, trainer.WeightsFormat, weights.Bytes()); err != nil {
		return nil, err
	}
	round := f.run.Round(fmt.Sprintf("mnist-%03d", i+1), f.seed.PublicSeed(i))
	if err := f.site.prepare(ctx, &round); err != nil {
		return nil, err
	}
	round, err := f.operator.OpenRound(ctx, round)
	if err != nil {
		return nil, err
	}
	f.bar.Describe("clients")
	f.bar.Grow(2 * f.run.Cohort) // each encodes and sends
	defer f.bar.Close()
	group, playing := errgroup.WithContext(ctx)
	for k, p := range f.players {
		n, all := f.run.Cohort, len(f.players)
		first, last := i*n+n*k/all, i*n+n*(k+1)/all
		group.Go(func() error { return f.play(playing, p, round.ID, first, last) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	// The round closes by itself when the whole cohort has reported. Waiting for it needs no
	// more than the time to forward and to decode.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	estimate, err := f.operator.Estimate(ctx, round.ID, true)
	if err != nil {
		return nil, err
	}
	return estimate, f.site.finish(ctx, round.ID)
}

// play is what the clients whose turns are first, …, last−1 do in a round: each joins it
// unless its policy forbids, computes the gradient of its own images at the published
// model, and sends one randomized report.
func (f *federation) play(ctx context.Context, p *player, round string, first, last int) error {
	part, err := p.client.Join(ctx, round)
	if err != nil || first == last {
		return err
	}
	published, err := p.client.Model(ctx)
	if err != nil {
		return err
	}
	params, err := trainer.ReadWeights(bytes.NewReader(published.Data), f.model)
	if err != nil {
		return err
	}
	var reports [][]byte
	if err := p.gradients.Each(ctx, params, first, last, func(turn int, grad []float64) error {
		report, err := part.Encode(nil, grad, f.seed.Client(turn))
		reports = append(reports, report)
		f.bar.Step()
		return err
	}); err != nil {
		return err
	}
	sent, err := f.site.send(ctx, part, first, reports, f.bar.Step)
	f.bytes.Add(sent)
	return err
}

// publish has the server show how a round went. The accuracy is measured on n test images. No client
// holds a test image.
func (f *federation) publish(ctx context.Context, p trainer.Progress, accuracy, loss float64, n int) error {
	scalars := []client.Scalar{
		{Name: "test accuracy", Round: p.Round + 1, Value: accuracy, StdErr: math.Sqrt(accuracy * (1 - accuracy) / float64(n))},
		{Name: "test loss", Round: p.Round + 1, Value: loss},
	}
	if noise := p.Estimate.NoiseNorm; !math.IsNaN(noise) {
		scalars = append(scalars, client.Scalar{Name: "noise norm", Round: p.Round + 1, Value: noise})
	}
	return f.operator.PutScalars(ctx, scalars...)
}

// close frees what the federation holds and stops the site.
func (f *federation) close() (err error) {
	for _, closer := range slices.Backward(f.closers) {
		err = errors.Join(err, closer())
	}
	return err
}
