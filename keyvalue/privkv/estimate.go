package privkv

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// hits returns an interval of the probability of a hit in the reports about a key, as
// if there was one more report: what is never certain has no variance of 0.
func (k tally) hits() (low, high float64) {
	n, hit := float64(k.reports), float64(k.reports-k.none)
	return hit / (n + 1), (hit + 1) / (n + 1)
}

// frequency estimates the share of the clients that hold a key.
func (p *protocol) frequency(k tally) (value, stderr float64) {
	if k.reports == 0 {
		return 0, 1 // the truth is in [0, 1]
	}
	n := float64(k.reports)
	low, high := k.hits()
	b := min(max(0.5, low), high) // of the largest variance
	b = min(max(b, p.q), p.p)     // what is possible
	// b·(1−b) is concave: estimated from n reports it is low by a factor of 1 − 1/n.
	return (float64(k.reports-k.none)/n - p.q) / p.gap, math.Sqrt(b*(1-b)*(n+1)) / n / p.gap
}

// mean estimates the sum of the values of a key over all of n clients, of which each
// reports on it with probability 1/dim. The standard error is wide by the square of
// the mean, which it does not subtract from the second moment.
func (p *protocol) mean(k tally, dim int, n int64) (value, stderr float64) {
	_, b := k.hits()
	holders := max((b-p.q)/p.gap, 0)
	second := p.out + holders*(p.in-p.out)
	d, reports := float64(dim), float64(n)
	return d / reports * p.gain * float64(k.plus-k.minus), p.gain * math.Sqrt(d*second/reports)
}

// conditionalMean is the conditional mean moved into its range.
func (p *protocol) conditionalMean(k tally, frequency float64) float64 {
	if k.reports == 0 {
		return 0
	}
	holders := min(max(frequency, 1/float64(k.reports)), 1)
	return min(max(p.conditional(k, holders), -1), 1)
}

// KeyValues implements fl.KeyValueAggregator. O(dim).
func (a *aggregator) KeyValues() (*fl.KeyValueEstimate, error) {
	mean, err := a.mean(1)
	if err != nil {
		return nil, err
	}
	m, d := a.mechanism, a.mechanism.round.Dim
	e := &fl.KeyValueEstimate{
		Frequency: fl.Series{Value: make([]float64, d), StdErr: make([]float64, d)},
		Mean:      *mean, Conditional: make([]float64, d),
		Reports: a.reports, Mechanism: m.round.Mechanism, Guarantee: m.Guarantee(),
	}
	for j, k := range a.tallies {
		e.Frequency.Value[j], e.Frequency.StdErr[j] = m.protocol.frequency(k)
		e.Conditional[j] = m.protocol.conditionalMean(k, e.Frequency.Value[j])
	}
	return e, nil
}

// Estimate implements fl.Aggregator. O(dim).
func (a *aggregator) Estimate() (*fl.Estimate, error) {
	m := a.mechanism
	mean, err := a.mean(m.round.Scale)
	if err != nil {
		return nil, err
	}
	return &fl.Estimate{Series: *mean, Reports: a.reports, Mechanism: m.round.Mechanism, Guarantee: m.Guarantee()}, nil
}

// mean estimates the unconditional means in units of 1/scale.
func (a *aggregator) mean(scale float64) (*fl.Series, error) {
	if a.reports == 0 {
		return nil, fmt.Errorf("%s: estimate: %w", a.mechanism.round.Mechanism, fl.ErrNoReports)
	}
	d := a.mechanism.round.Dim
	s := &fl.Series{Value: make([]float64, d), StdErr: make([]float64, d)}
	for j, k := range a.tallies {
		value, stderr := a.mechanism.protocol.mean(k, d, a.reports)
		s.Value[j], s.StdErr[j] = scale*value, scale*stderr
	}
	return s, nil
}
