package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

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
	// sightless is set when a single report cannot be estimated.
	sightless bool
}

func (c *check) statistical(ctx context.Context) error {
	a := &attack{check: c, observer: c.mechanism, gradients: gradients(c.round), pairs: pairs(c.promise, c.round.Dim), samples: c.Samples}
	if a.samples == 0 {
		a.samples = defaultSamples
	}
	if err := a.plan(); err != nil {
		return err
	}
	if err := a.draw(ctx); err != nil {
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

// chunk is the number of samples that one generator draws.
const chunk = 250

func (a *attack) draw(ctx context.Context) error {
	a.values, a.reports = make([][][]float64, len(a.gradients)), make([][]string, len(a.gradients))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	steps := (a.samples + chunk - 1) / chunk
	for g := range a.gradients {
		in := a.used(g)
		if len(in) == 0 {
			continue
		}
		a.values[g], a.reports[g] = make([][]float64, len(a.pairs)), make([]string, a.samples)
		for _, p := range in {
			a.values[g][p] = make([]float64, a.samples)
		}
		a.Progress.Grow(steps)
	}
	for g := range a.gradients {
		if a.values[g] == nil {
			continue
		}
		for from := 0; from < a.samples; from += chunk {
			var key [32]byte
			for i := range key {
				key[i] = byte(a.Rand.Uint32())
			}
			group.Go(func() error {
				defer a.Progress.Step()
				err := a.sample(ctx, g, from, min(from+chunk, a.samples), rand.New(rand.NewChaCha8(key)))
				if err != nil {
					return fmt.Errorf("gradient %s: %w", a.gradients[g].name, err)
				}
				return nil
			})
		}
	}
	return group.Wait()
}

// sample draws samples from to to−1 of a gradient.
func (a *attack) sample(ctx context.Context, g, from, to int, rng *rand.Rand) error {
	own, others := a.gradients[g].values(), a.gradients[zero].values()
	clients := 1
	if a.promise.Trust.Central() {
		clients = a.round.MinReports
	}
	for i := from; i < to; i++ {
		agg := a.observer.NewAggregator()
		for client := range clients {
			if err := ctx.Err(); err != nil {
				return err
			}
			gradient := others
			if client == 0 {
				gradient = own
			}
			report, err := a.mechanism.Encode(nil, gradient, rng)
			if err != nil {
				return err
			}
			if err := agg.Add(report); err != nil {
				return err
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
			return err
		}
		if len(estimate.Mean().Value) != a.round.Dim {
			return errors.New("the estimate has not the round's dimension")
		}
		for _, p := range a.used(g) {
			a.values[g][p][i] = a.project(estimate.Mean().Value, p)
		}
	}
	return nil
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
