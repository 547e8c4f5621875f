package keyvalues

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sparse"
	"github.com/hushgrad/hushgrad/keyvalue"
	"github.com/hushgrad/hushgrad/keyvalue/pckv"
	"github.com/hushgrad/hushgrad/keyvalue/privkv"
	"github.com/hushgrad/hushgrad/keyvalue/succinct"
)

// contender is a mechanism in the figures.
type contender struct {
	label, name string
	params      func(p sparse.Point, metric int) (fl.Params, error)
	meansOnly   bool
}

func withSparsity(p sparse.Point, _ int) (fl.Params, error) {
	return fl.Params{"sparsity": fl.Int(p.Sparsity)}, nil
}

func withPadding(p sparse.Point, _ int) (fl.Params, error) {
	return fl.Params{pckv.ParamPadding: fl.Int(p.Sparsity)}, nil
}

func withNothing(sparse.Point, int) (fl.Params, error) { return nil, nil }

// cocoParams chooses the number of slots for what is measured: the best one for means
// may not tell frequencies.
func cocoParams(p sparse.Point, metric int) (fl.Params, error) {
	params := fl.Params{"sparsity": fl.Int(p.Sparsity)}
	if metric >= firstMean {
		return params, nil
	}
	slots, err := coco.BestSlotsForSupport(p)
	return params.With("slots", fl.Int(slots)), err
}

var contenders = []contender{
	{"PrivKV", privkv.NamePrivKV, withNothing, false},
	{"PCKV-GRR", pckv.GRR, withPadding, false},
	{"PCKV-AGRR", pckv.AGRR, withPadding, false},
	{"PCKV-UE", pckv.UE, withPadding, false},
	{"Collision", collision.Name, withSparsity, false},
	{"CoCo", coco.Name, cocoParams, false},
	{"SUCCINCT", succinct.Name, withSparsity, true},
}

// metricNames: total variation and largest absolute error of the item frequencies
// (projected on the simplex), and of the means without and with projection on the L1
// ball.
var metricNames = [6]string{"frequency_tve", "frequency_mae", "mean_tve", "mean_mae", "mean_tve_projected", "mean_mae_projected"}

// firstMean is the first metric of means.
const firstMean = 2

// measure runs one round over the population with the real code and returns one
// metric of its errors.
func (c contender) measure(ctx context.Context, p *population, epsilon float64, metric int, rng *rand.Rand) (float64, error) {
	params, err := c.params(sparse.Point{Dim: p.dim, Sparsity: p.sparsity, Epsilon: epsilon, Hash: "gf2"}, metric)
	if err != nil {
		return 0, err
	}
	r := fl.Round{ID: "bench", Mechanism: c.name, Dim: p.dim, Scale: 1, Epsilon: epsilon, MinReports: len(p.pairs), Params: params}
	for i := range r.PublicSeed {
		r.PublicSeed[i] = byte(rng.Uint32())
	}
	if r, err = fl.Complete(r); err != nil {
		return 0, err
	}
	opened, err := fl.Open(r)
	if err != nil {
		return 0, err
	}
	m, ok := opened.(fl.KeyValueMechanism)
	if !ok {
		return 0, fmt.Errorf("%s is not for key-value pairs", c.name)
	}
	agg := m.NewAggregator()
	batch := make([][]byte, 0, 1024)
	for i, pairs := range p.pairs {
		report, err := m.EncodeKeyValues(nil, pairs, rng)
		if err != nil {
			return 0, err
		}
		if batch = append(batch, report); len(batch) == cap(batch) || i == len(p.pairs)-1 {
			if err := errors.Join(ctx.Err(), fl.AddBatch(m, agg, batch)); err != nil {
				return 0, err
			}
			batch = batch[:0]
		}
	}
	if metric < firstMean {
		return p.frequencyError(agg, metric)
	}
	return p.meanError(agg, metric)
}

// meanError is the distance of the unconditional means from the true ones.
func (p *population) meanError(agg fl.Aggregator, metric int) (float64, error) {
	e, err := agg.Estimate()
	if err != nil {
		return 0, err
	}
	if metric >= firstMean+2 {
		if err := keyvalue.L1Ball(e.Value, e.Value, float64(p.sparsity)); err != nil {
			return 0, err
		}
	}
	if metric%2 == 0 {
		return floats.Distance(e.Value, p.sum, 1) / 2, nil
	}
	return floats.Distance(e.Value, p.sum, math.Inf(1)), nil
}

// frequencyError is the distance of the 2d item frequencies, projected on the simplex
// of sum s and divided by s, from the true ones.
func (p *population) frequencyError(agg fl.Aggregator, metric int) (float64, error) {
	e, err := agg.(fl.KeyValueAggregator).KeyValues()
	if err != nil {
		return 0, err
	}
	s := float64(p.sparsity)
	got, truth := items(e.Frequency.Value, e.Mean.Value), items(p.held, p.sum)
	if err := keyvalue.Simplex(got, got, s); err != nil {
		return 0, err
	}
	if metric == 0 {
		return floats.Distance(got, truth, 1) / 2 / s, nil
	}
	return floats.Distance(got, truth, math.Inf(1)) / s, nil
}

// items returns the frequencies of each key with + and with −.
func items(held, sum []float64) []float64 {
	out := make([]float64, 0, 2*len(held))
	for k := range held {
		out = append(out, (held[k]+sum[k])/2, (held[k]-sum[k])/2)
	}
	return out
}
