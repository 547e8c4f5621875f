package keyvalues

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
)

// metricNames: total variation and largest absolute error of the item frequencies
// (projected on the simplex), and of the means without and with projection on the L1
// ball.
var metricNames = [6]string{"frequency_tve", "frequency_mae", "mean_tve", "mean_mae", "mean_tve_projected", "mean_mae_projected"}

// metricTitles are the same for the axes of figures.
var metricTitles = [len(metricNames)]string{
	"total variation error of item frequencies", "largest error of an item frequency",
	"total variation error of the means", "largest error of a mean",
	"total variation error of projected means", "largest error of a projected mean",
}

// firstMean is the first metric of means.
const firstMean = 2

// has reports whether the setting is measured by a metric.
func (s setting) has(metric int) bool {
	if metric < firstMean {
		return s.frequencies
	}
	return s.means
}

// width is the number of metrics, column the place of one of them.
func (s setting) width() int {
	width := 0
	if s.frequencies {
		width += firstMean
	}
	if s.means {
		width += len(metricNames) - firstMean
	}
	return width
}

func (s setting) column(metric int) int {
	if s.frequencies {
		return metric
	}
	return metric - firstMean
}

// openRound opens a round of a mechanism.
func openRound(r fl.Round, rng *rand.Rand) (*opened, error) {
	for i := range r.PublicSeed {
		r.PublicSeed[i] = byte(rng.Uint32())
	}
	r, m, err := fl.Complete(r)
	if err != nil {
		return nil, err
	}
	return &opened{round: r, mechanism: m, agg: m.NewAggregator()}, nil
}

// measure runs one round over the population and returns its metrics.
func (c contender) measure(ctx context.Context, p *population, epsilon float64, s setting, rng *rand.Rand) ([]float64, error) {
	r := fl.Round{ID: "bench", Mechanism: c.name, Dim: p.dim, Scale: 1, Epsilon: epsilon, MinReports: p.clients(), Params: s.params}
	if s.frequencies {
		r.Columns = []string{fl.ColumnFrequency}
	}
	o, err := openRound(r, rng)
	if err != nil {
		return nil, err
	}
	if err := c.fill(ctx, o, p, rng); err != nil {
		return nil, err
	}
	e, err := o.agg.Estimate()
	if err != nil {
		return nil, err
	}
	return p.errors(e, s)
}

// errors are the metrics of an estimate, which they change.
func (p *population) errors(e *fl.Estimate, s setting) (metrics []float64, err error) {
	if s.frequencies {
		if metrics, err = p.frequencyErrors(e, metrics); err != nil {
			return nil, err
		}
	}
	if s.means {
		return p.meanErrors(e, metrics)
	}
	return metrics, nil
}

// frequencyErrors appends the distances of the 2d item frequencies, projected on the
// simplex of sum s and divided by s, from the true ones.
func (p *population) frequencyErrors(e *fl.Estimate, metrics []float64) ([]float64, error) {
	frequency, _ := e.Column(fl.ColumnFrequency)
	s := float64(p.sparsity)
	got, truth := items(frequency.Value, e.Mean().Value), items(p.held, p.sum)
	if err := keyvalue.Simplex(got, got, s); err != nil {
		return nil, err
	}
	return append(metrics, floats.Distance(got, truth, 1)/2/s, floats.Distance(got, truth, math.Inf(1))/s), nil
}

// meanErrors appends the distances of the unconditional means from the true ones, before
// and after the projection.
func (p *population) meanErrors(e *fl.Estimate, metrics []float64) ([]float64, error) {
	mean := e.Mean().Value
	metrics = append(metrics, floats.Distance(mean, p.sum, 1)/2, floats.Distance(mean, p.sum, math.Inf(1)))
	if err := keyvalue.L1Ball(mean, mean, float64(p.sparsity)); err != nil {
		return nil, err
	}
	return append(metrics, floats.Distance(mean, p.sum, 1)/2, floats.Distance(mean, p.sum, math.Inf(1))), nil
}

// items returns the frequencies of each key with + and with −.
func items(held, sum []float64) []float64 {
	out := make([]float64, 0, 2*len(held))
	for k := range held {
		out = append(out, (held[k]+sum[k])/2, (held[k]-sum[k])/2)
	}
	return out
}
