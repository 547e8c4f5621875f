package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/npy"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/privunit"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/trainer"
)

// federation is a site and its clients, who talk over loopback TCP. It is where trainer.Run gets its
// means from.
type federation struct {
	run          *plan.Run
	model        *trainer.Model
	clients      *trainer.Clients
	seed         trainer.Seed
	bar          *progress.Bar
	live         bool   // there is no table
	shown        string // beside the bar, where there is no table
	began        time.Time
	liars        *parties.Liars
	parties.Site // nil until start
	players      []*player
	bytes        atomic.Int64 // of all reports so far
	held         int          // rounds that were not about gradients
	suspects     int          // coordinates with an alarm in them
	mean         []float64    // of the features, once it is known
}

// player plays many clients, one after the other, over one connection. What they fetch is the same for all, so
// it fetches it once per round. The gradients are those that each client would compute alone.
type player struct {
	conn      *grpc.ClientConn
	client    *client.Client
	gradients trainer.Gradients
}

// start starts the site and connects everybody.
func (f *federation) start(ctx context.Context, o parties.Options) error {
	site, err := parties.Open(ctx, f.run, o)
	if err != nil {
		return err
	}
	f.Site = site
	for range runtime.GOMAXPROCS(0) {
		p := &player{}
		var opts client.Options
		if p.conn, opts, err = f.Connect(); err != nil {
			return err
		}
		if p.client, err = client.New(p.conn, opts); err != nil {
			return err
		}
		// Most mechanisms clip the L1 norm. What makes it smaller makes the L2 norm larger, which
		// sums and privunit clip.
		if p.gradients, err = f.clients.On(f.model, !plan.IsSum(f.run.Mechanism) && f.run.Mechanism != privunit.Name); err != nil {
			return err
		}
		f.players = append(f.players, p)
	}
	return nil
}

// close frees what the players hold and stops the site.
func (f *federation) close() (err error) {
	for _, p := range f.players {
		err = errors.Join(err, p.gradients.Close())
	}
	if f.Site != nil {
		err = errors.Join(err, f.Close())
	}
	return err
}

// centre holds the first round, where it is about the clients' features, and moves all vectors around the mean that it finds, as every client
// does with its own. It returns the mean, or nil.
func (f *federation) centre(ctx context.Context, first []float64, vectors ...[][]float64) ([]float64, error) {
	c := f.run.Centring
	if c == nil {
		return nil, nil
	}
	e, err := f.Mean(ctx, 0, first)
	if err != nil {
		return nil, err
	}
	f.held, f.suspects, f.mean = 1, len(e.Suspects), c.Mean(e)
	for _, some := range vectors {
		plan.Around(f.mean, some...)
	}
	f.liars.Around(f.mean)
	return f.mean, nil
}

// gradients are what clients report in a round: before the mean of the features is known, what it follows from.
func (f *federation) gradients(p *player) trainer.Gradients {
	if c := f.run.Centring; c != nil && f.held == 0 {
		return f.clients.Answers(f.model.Dim(), c.Answer)
	}
	return p.gradients
}

// Mean holds a round: publish the model and the mean of the features, open the round, let the cohort take part, and read
// the estimate of its mean gradient.
func (f *federation) Mean(ctx context.Context, i int, params []float64) (*fl.Estimate, error) {
	var model bytes.Buffer
	if err := npy.Write(&model, slices.Concat(params, f.mean)); err != nil {
		return nil, err
	}
	if _, err := f.PutModel(ctx, trainer.WeightsFormat, model.Bytes()); err != nil {
		return nil, err
	}
	round, err := f.OpenRound(ctx, f.run.Round(fmt.Sprintf("mnist-%03d", i+1), f.seed.PublicSeed(i)))
	if err != nil {
		return nil, err
	}
	f.bar.Describe(f.describe(i))
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
	// The round closes by itself when the whole cohort has reported.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	return f.Estimate(ctx, round.ID, true)
}

// describe says beside the bar how far the run is.
func (f *federation) describe(i int) string {
	if i == 0 {
		f.began = time.Now()
	}
	if f.live {
		return fmt.Sprintf("%s %d/%d", f.shown, i+1, f.run.Affordable)
	}
	left := ""
	if i > 0 {
		all := time.Since(f.began) / time.Duration(i) * time.Duration(f.run.Affordable-i)
		left = fmt.Sprintf(" (%s left in all)", all.Round(time.Second))
	}
	return fmt.Sprintf("round %d of %d%s, encode and send", i+1, f.run.Affordable, left)
}

// play is what the clients whose turns are first, …, last−1 do in a round: each joins it
// unless its policy forbids, fetches its token where the round asks for one, computes the gradient of its own images at the published
// model, and sends one randomized report. A site's report is of the sum of its records' gradients.
func (f *federation) play(ctx context.Context, p *player, round string, first, last int) error {
	part, err := p.client.Join(ctx, round)
	if err != nil || first == last {
		return err
	}
	published, err := p.client.Model(ctx)
	if err != nil {
		return err
	}
	// Behind the weights is the mean of the features, around which the clients' vectors are already.
	params, err := npy.Read(bytes.NewReader(published.Data), f.model.Dim()+len(f.mean))
	if err != nil {
		return err
	}
	params = params[:f.model.Dim()]
	parts, err := f.Admit(ctx, part, first, last-first)
	if err != nil {
		return err
	}
	var reports [][]byte
	keep := func(report []byte, err error) error {
		reports = append(reports, report)
		f.bar.Step()
		return err
	}
	if f.run.Records > 0 { // of a site, which clips each and adds noise to their sum
		err = trainer.EachSite(ctx, f.gradients(p), f.run.Clients, params, first, last, func(turn int, records iter.Seq[[]float64]) error {
			return keep(parts[turn-first].EncodeRecords(nil, records, f.seed.Client(turn)))
		})
	} else {
		layout := f.model.Layout()
		classes := layout[len(layout)-1].Shape[0]
		err = f.gradients(p).Each(ctx, params, first, last, func(turn int, grad []float64) error {
			if f.liars.Lies(turn % f.run.Clients) {
				return keep(f.liars.Report(parts[turn-first], grad, len(grad)-classes, f.seed.Client(turn)))
			}
			return keep(parts[turn-first].Encode(nil, grad, f.seed.Client(turn)))
		})
	}
	if err != nil {
		return err
	}
	sent, err := f.Send(ctx, parts, reports, f.bar.Step)
	f.bytes.Add(sent)
	return err
}
