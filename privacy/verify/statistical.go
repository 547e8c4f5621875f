package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/fl"
)

// attack is the statistical method at work.
type attack struct {
	*check
	gradients []gradient
	pairs     [][2]int
	samples   int
	// values[g][p][i] is what sample i of gradient g shows in the direction of pair
	// p, for the pairs that g is in.
	values [][][]float64
	// reports[g][i] is the report itself (local model).
	reports [][]string
	// observer makes the aggregators that what is observed is read from.
	observer fl.Mechanism
	// ended is set when the time limit ended the check.
	ended bool
	// sightless is set when a single report cannot be estimated.
	sightless bool
}

// statistical draws samples until the limited context ends.
func (c *check) statistical(ctx, limited context.Context) error {
	a := &attack{
		check: c, observer: c.mechanism, gradients: gradients(c.round),
		pairs: pairs(c.promise, c.round.Dim), samples: cmp.Or(c.Samples, defaultSamples),
	}
	if err := a.plan(); err != nil {
		return err
	}
	if err := a.draw(ctx, limited); err != nil {
		return err
	}
	return a.judge(ctx)
}

// used returns the pairs that a gradient is in.
func (a *attack) used(g int) (in []int) {
	for p, pair := range a.pairs {
		if pair[0] == g || pair[1] == g {
			in = append(in, p)
		}
	}
	return in
}

// plan finds out what can be seen and afforded.
func (a *attack) plan() error {
	if a.promise.Trust.Central() {
		return a.planRounds()
	}
	agg := a.mechanism.NewAggregator()
	report, err := a.mechanism.Encode(nil, a.gradients[zero].values(), a.Rand)
	if err != nil {
		return err
	}
	if err := agg.Add(report); err != nil {
		return fmt.Errorf("the aggregator refuses a report of its own mechanism: %w", err)
	}
	if m, lone := a.lone(report); m != nil {
		a.observer, agg = m, lone
	}
	if _, err := agg.Estimate(); err != nil {
		a.sightless = true
		a.report.note("a single report cannot be estimated (%v); only repeated reports are compared", err)
	}
	return nil
}

// lone returns the mechanism of the round with min_reports 1, and its aggregator with one report,
// or nil if there is none that reads it. An aggregator of the round itself releases nothing about
// a single report. An attacker need not ask it: every function of the report may be looked at.
func (a *attack) lone(report []byte) (fl.Mechanism, fl.Aggregator) {
	r := a.round
	if r.MinReports == 1 {
		return nil, nil
	}
	r.MinReports, r.TargetReports = 1, 0
	m, err := fl.Open(r)
	if err != nil {
		return nil, nil
	}
	agg := m.NewAggregator()
	if agg.Add(report) != nil {
		return nil, nil
	}
	return m, agg
}

// work bounds messages (at least dim) x clients x rounds x gradients when the number
// of rounds is left open.
const work = 1 << 31

func (a *attack) planRounds() error {
	perReport := float64(a.round.Dim)
	if m, ok := a.mechanism.(fl.Coster); ok {
		perReport = max(perReport, m.Cost().Messages)
	}
	perRound := perReport * float64(a.round.MinReports) * 5
	if a.Samples == 0 {
		a.samples = int(min(float64(a.samples), work/perRound))
	}
	if a.samples < minSamples || float64(a.samples)*perRound > 64*work {
		return fl.Invalid("min_reports", a.round.MinReports,
			"must be small enough to repeat whole rounds: one takes about %.3g steps, at most %.3g are affordable", perRound, float64(work)/minSamples)
	}
	more := "; the messages themselves, merged and shuffled, may reveal more"
	if a.promise.Trust == fl.TwoServers {
		more = "; what a server sees beside it is not looked at"
	}
	a.report.note("what is observed is the merged estimate of min_reports = %d clients, the others holding the zero gradient%s", a.round.MinReports, more)
	return nil
}

const (
	// chunk is the number of samples that one generator draws.
	chunk = 250
	// steps is the least number of chunks of a gradient where the time limit leaves fewer samples than were asked for. All
	// gradients then have about as many samples when it ends.
	steps = 20
)

// pace returns how many samples one generator draws, and how many of each gradient are expected. It times one.
func (a *attack) pace(limited context.Context) (each, expected int, err error) {
	if a.Time == 0 {
		return chunk, a.samples, nil
	}
	start := time.Now()
	if _, err := a.sample(limited, denseUp, 0, 1, rand.New(rand.NewChaCha8([32]byte{}))); err != nil {
		return 0, 0, err
	}
	one := float64(time.Since(start)+1) * float64(a.inputs()) / float64(runtime.GOMAXPROCS(0))
	affordable := int(min(float64(a.Time)/one, float64(a.samples)))
	if affordable == a.samples {
		return chunk, a.samples, nil
	}
	return min(max(affordable/steps, 1), chunk), max(affordable, 1), nil
}

// inputs returns the number of gradients that are in a pair.
func (a *attack) inputs() (n int) {
	for _, v := range a.values {
		if v != nil {
			n++
		}
	}
	return n
}

// draw takes the samples until the limited context ends. All gradients have the same number of samples then.
func (a *attack) draw(ctx, limited context.Context) error {
	a.values, a.reports = make([][][]float64, len(a.gradients)), make([][]string, len(a.gradients))
	for g := range a.gradients {
		in := a.used(g)
		if len(in) == 0 {
			continue
		}
		a.values[g], a.reports[g] = make([][]float64, len(a.pairs)), make([]string, a.samples)
		for _, p := range in {
			a.values[g][p] = make([]float64, a.samples)
		}
	}
	each, expected, err := a.pace(limited)
	if err != nil && !timeIsUp(ctx, limited) {
		return err
	}
	if err != nil {
		a.cut(0)
		return nil
	}
	chunks := (a.samples + each - 1) / each
	a.Progress.Grow((expected + each - 1) / each * a.inputs())
	drawn := make([][]*int, len(a.gradients)) // by gradient and chunk
	group, groupCtx := errgroup.WithContext(limited)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for c := range chunks {
		if groupCtx.Err() != nil {
			break
		}
		for g := range a.gradients {
			if a.values[g] == nil {
				continue
			}
			var key [32]byte
			for i := range key {
				key[i] = byte(a.Rand.Uint32())
			}
			n := new(int)
			drawn[g] = append(drawn[g], n)
			group.Go(func() (err error) {
				defer a.Progress.Step()
				from := c * each
				*n, err = a.sample(groupCtx, g, from, min(from+each, a.samples), rand.New(rand.NewChaCha8(key)))
				if err != nil && !timeIsUp(ctx, limited) {
					return fmt.Errorf("gradient %s: %w", a.gradients[g].name, err)
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	least := a.samples
	for g := range a.gradients {
		if a.values[g] != nil {
			least = min(least, inARow(drawn[g], each))
		}
	}
	if least < a.samples {
		a.cut(least)
	}
	return nil
}

// inARow returns how many samples were drawn before the first that was not.
func inARow(drawn []*int, each int) (n int) {
	for _, d := range drawn {
		if n += *d; *d < each {
			break
		}
	}
	return n
}

// cut keeps the first samples of every gradient: the time limit ended the others.
func (a *attack) cut(samples int) {
	a.report.note("the time limit of %s ended the check after %d of %d samples of each gradient", a.Time, samples, a.samples)
	a.samples, a.ended = samples, true
	for g := range a.gradients {
		if a.values[g] == nil {
			continue
		}
		a.reports[g] = a.reports[g][:samples]
		for _, p := range a.used(g) {
			a.values[g][p] = a.values[g][p][:samples]
		}
	}
}

// sample draws samples from to to−1 of a gradient, and returns how many of them it has drawn when it fails or ctx ends.
func (a *attack) sample(ctx context.Context, g, from, to int, rng *rand.Rand) (drawn int, err error) {
	own, others := a.gradients[g].values(), a.gradients[zero].values()
	clients := 1
	if a.promise.Trust.Central() {
		clients = a.round.MinReports
	}
	for i := from; i < to; i++ {
		agg := a.observer.NewAggregator()
		for client := range clients {
			if err := ctx.Err(); err != nil {
				return i - from, err
			}
			gradient := others
			if client == 0 {
				gradient = own
			}
			report, err := a.mechanism.Encode(nil, gradient, rng)
			if err != nil {
				return i - from, err
			}
			if err := agg.Add(report); err != nil {
				return i - from, err
			}
			if clients == 1 {
				a.reports[g][i] = string(report)
			}
		}
		if a.sightless {
			continue
		}
		estimate, err := agg.Estimate()
		if err != nil {
			return i - from, err
		}
		if len(estimate.Mean().Value) != a.round.Dim {
			return i - from, errors.New("the estimate has not the round's dimension")
		}
		for _, p := range a.used(g) {
			a.values[g][p][i] = a.project(estimate.Mean().Value, p)
		}
	}
	return to - from, nil
}

// project is the estimate along the difference of a pair's gradients, in units of
// the gradient per coordinate in which they differ.
func (a *attack) project(estimate []float64, pair int) float64 {
	x, y := a.gradients[a.pairs[pair][0]], a.gradients[a.pairs[pair][1]]
	sum, norm := 0.0, 0.0
	for j, v := range estimate {
		d := (x.at(j) - y.at(j)) / (huge * a.round.Scale)
		sum += d * v
		norm += math.Abs(d)
	}
	return sum / norm
}
