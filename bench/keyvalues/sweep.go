package keyvalues

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// dataset is clients and what they hold.
type dataset interface {
	crowd
	truth() *truth
}

// source makes a dataset.
type source struct {
	name         string
	dim, padding int
	open         func(rng *rand.Rand) (dataset, error)
}

// sweep is a figure of the PCKV paper: rivals at several ε on several sources, measured by gauges.
type sweep struct {
	number     int
	title      string
	sources    []source
	epsilons   []float64
	rivals     []rival
	gauges     []gauge
	views      []view
	againstDim bool // what the horizontal axis shows
	withTheory bool
	notes      []string
	repeats    int
}

// point is a rival at one ε on one source.
type point struct {
	source
	epsilon float64
	rival   rival
	values  [][]float64 // by gauge and repeat
	theory  []theory    // by gauge, averaged over the repeats
}

// value is what a gauge measured, with its interval over the repeats.
func (at *point) value(gauge int) experiment.Interval {
	return experiment.MeanInterval(at.values[gauge])
}

// run measures every rival in every repeat, for which the data is drawn anew.
func (s *sweep) run(ctx context.Context, env experiment.Env) ([]*point, error) {
	env.Progress.Describe("datasets")
	env.Progress.Grow(len(s.sources) * s.repeats)
	results := make([][]float64, len(s.sources)*s.repeats)
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for i := range results {
		if running.Err() != nil {
			break
		}
		group.Go(func() (err error) {
			defer env.Progress.Step()
			results[i], err = s.measure(running, env, s.sources[i/s.repeats], i%s.repeats)
			return err
		})
	}
	if err := errors.Join(group.Wait(), ctx.Err()); err != nil {
		return nil, err
	}
	var points []*point
	for i, from := range s.sources {
		at := 0
		for _, epsilon := range s.epsilons {
			for _, r := range s.rivals {
				p := &point{source: from, epsilon: epsilon, rival: r, values: make([][]float64, len(s.gauges)), theory: make([]theory, len(s.gauges))}
				for g := range s.gauges {
					for _, values := range results[i*s.repeats : (i+1)*s.repeats] {
						n := float64(s.repeats)
						p.values[g] = append(p.values[g], values[at])
						p.theory[g].mse += values[at+1] / n
						p.theory[g].variance += values[at+2] / n / n
						p.theory[g].corrected = p.theory[g].corrected || values[at+3] > 0
					}
					at += 4
				}
				points = append(points, p)
			}
		}
	}
	return points, nil
}

// measure draws data and returns, for every ε, rival and gauge, what was measured and the theory.
func (s *sweep) measure(ctx context.Context, env experiment.Env, from source, repeat int) ([]float64, error) {
	key := fmt.Sprintf("%s d=%d padding=%d repeat %d", from.name, from.dim, from.padding, repeat)
	return env.Checkpoint.Do(key, func() ([]float64, error) {
		data, err := from.open(experiment.Stream(env.Seed, 62, textNumber(from.name), uint64(from.dim), uint64(repeat)))
		if err != nil {
			return nil, err
		}
		t := data.truth()
		var values []float64
		for _, epsilon := range s.epsilons {
			for _, r := range s.rivals {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				// PrivKVM with one round gets the same reports with and without virtual iterations.
				rng := experiment.Stream(env.Seed, 63, uint64(s.number), textNumber(from.name), uint64(from.dim), uint64(repeat), math.Float64bits(epsilon), textNumber(r.mechanism), uint64(r.by))
				frequencies, means, err := r.estimates(data, from.dim, from.padding, epsilon, rng)
				if err != nil {
					return nil, fmt.Errorf("%s, ε = %g, %s: %w", r.label, epsilon, key, err)
				}
				for _, g := range s.gauges {
					var expected theory
					if s.withTheory {
						if expected, err = r.expected(t, g, from.dim, from.padding, data.clients(), epsilon); err != nil {
							return nil, err
						}
					}
					corrected := 0.0
					if expected.corrected {
						corrected = 1
					}
					values = append(values, g.measure(t, frequencies, means), expected.mse, expected.variance, corrected)
				}
			}
		}
		return values, nil
	})
}

// textNumber makes a part of a stream of a short name.
func textNumber(name string) (n uint64) {
	for _, b := range []byte(name) {
		n = n*257 + uint64(b)
	}
	return n
}

// find returns the point of a source with a number of keys, at an ε; nil if there is none.
func find(points []*point, name string, dim int, epsilon float64, label string) *point {
	for _, p := range points {
		if p.name == name && p.dim == dim && p.epsilon == epsilon && p.rival.label == label {
			return p
		}
	}
	return nil
}
