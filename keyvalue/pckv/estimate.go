package pckv

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// Estimate implements fl.Aggregator: the unconditional mean is formed directly, as
// ℓ(n1−n2)/(n·a(2p−1)), not from frequency and conditional mean.
func (a *aggregator) Estimate() (*fl.Estimate, error) {
	kv, err := a.KeyValues()
	if err != nil {
		return nil, err
	}
	for j := range kv.Mean.Value {
		kv.Mean.Value[j] *= a.mechanism.round.Scale
		kv.Mean.StdErr[j] *= a.mechanism.round.Scale
	}
	return &fl.Estimate{Series: kv.Mean, Reports: kv.Reports, Mechanism: kv.Mechanism, Guarantee: kv.Guarantee}, nil
}

// KeyValues implements fl.KeyValueAggregator by Algorithm 4: the conditional means have
// its corrections, frequencies and means do not. Standard errors are those of clients
// drawn independently, with the estimates plugged in.
func (a *aggregator) KeyValues() (*fl.KeyValueEstimate, error) {
	m := a.mechanism
	if a.reports == 0 {
		return nil, m.wrap("estimate", fl.ErrNoReports)
	}
	dim := m.round.Dim
	e := &fl.KeyValueEstimate{
		Frequency:   fl.Series{Value: make([]float64, dim), StdErr: make([]float64, dim)},
		Mean:        fl.Series{Value: make([]float64, dim), StdErr: make([]float64, dim)},
		Conditional: make([]float64, dim),
		Reports:     a.reports, Mechanism: m.round.Mechanism, Guarantee: m.Guarantee(),
	}
	c, n, l := m.channel(), float64(a.reports), float64(m.padding)
	for j := range dim {
		sum := float64(a.plus[j]) + float64(a.minus[j]) - n*c.Background // ≈ those who sent key j, times Hold
		difference := float64(a.plus[j]) - float64(a.minus[j])
		f, mean := l*sum/(n*c.Hold), l*difference/(n*c.Sign)
		e.Frequency.Value[j], e.Mean.Value[j] = f, mean

		held := min(max(f, 0), 1)
		e.Frequency.StdErr[j] = math.Sqrt(c.FrequencyVariance(m.padding, held, n) + held*(1-held)/n)
		average := 0.0 // of the values; unknown if nobody seems to hold the key, and 0 errs wide
		if held > 0 {
			average = min(math.Abs(mean)/held, 1)
		}
		e.Mean.StdErr[j] = math.Sqrt(c.MeanVariance(m.padding, held, average, n))

		senders := n * min(max(f, 1/n), 1) / l
		plus := min(max((sum/c.Hold+difference/c.Sign)/2, 0), senders)
		minus := min(max((sum/c.Hold-difference/c.Sign)/2, 0), senders)
		e.Conditional[j] = (plus - minus) / senders
	}
	return e, nil
}
