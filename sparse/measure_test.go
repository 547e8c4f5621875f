package sparse_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// exactErrors are exact squared errors of one report, summed over the coordinates.
type exactErrors struct {
	Mean  float64 // of the mean, over dim coordinates
	Items float64 // of the columns plus and minus, over 2·dim items; +Inf if the round must refuse them
}

// roundOf returns a complete round of a sparse mechanism with the default hash
// family for tests.
func roundOf(t testing.TB, mechanism string, dim, sparsity int, epsilon float64) fl.Round {
	t.Helper()
	return roundWith(t, mechanism, dim, epsilon, fl.Params{"sparsity": fl.Int(sparsity)})
}

// roundWith is roundOf with parameters of the caller's.
func roundWith(t testing.TB, mechanism string, dim int, epsilon float64, params fl.Params) fl.Round {
	t.Helper()
	r, _, err := fl.Complete(fl.Round{
		ID: "test", Mechanism: mechanism, Dim: dim, Scale: 1, Epsilon: epsilon, MinReports: 1,
		Params:     params,
		PublicSeed: [32]byte{1, byte(dim)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// open builds the mechanism of a round.
func open(t testing.TB, r fl.Round) fl.SparseMechanism {
	t.Helper()
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return m.(fl.SparseMechanism)
}

// input returns a vector with consecutive indices and signs of both kinds,
// followed by dummies up to the sparsity.
func input(dim, sparsity, dummies int) fl.Ternary {
	x := fl.Ternary{Dim: dim}
	for i := range sparsity {
		j := i
		if i >= sparsity-dummies {
			j = dim + i
		}
		x.Index = append(x.Index, uint32(j))
		x.Sign = append(x.Sign, int8(1-2*(i%3/2)))
	}
	return x
}

// dense returns the vector of the real coordinates.
func dense(x fl.Ternary) []float64 {
	v := make([]float64, x.Dim)
	for i, j := range x.Index {
		if int(j) < x.Dim {
			v[j] = float64(x.Sign[i])
		}
	}
	return v
}

// measure encodes x many times with the real encoder and decodes every report on
// its own with the real aggregator, in many rounds of a few reports, each round
// with public randomness of its own. It checks that
//
//   - the squared errors of the mean and of the items average to the exact ones, within
//     z standard errors, and
//   - the average of the means is x, in every coordinate, within z standard errors.
//
// The standard errors come from the averages per round, which are independent.
// There must be enough rounds for the average of all rounds to be normal. A coordinate
// that few reports hit may show too little spread: its standard error counts as at least
// half of what the exact error says of an average coordinate.
func measure(t *testing.T, r fl.Round, x fl.Ternary, rounds, perRound int, want exactErrors, z float64, rng *rand.Rand) {
	t.Helper()
	truth := dense(x)
	columns := []string{fl.ColumnPlus, fl.ColumnMinus}
	if math.IsInf(want.Items, 1) {
		refused := r
		refused.Columns = columns
		if _, err := fl.Open(refused); err == nil {
			t.Fatal("a round with the columns plus and minus was opened, though its reports do not show them")
		}
	} else {
		r.Columns = columns
	}
	var mean, items moments
	coordinates := make([]moments, x.Dim)
	for range rounds {
		for i := range r.PublicSeed {
			r.PublicSeed[i] = byte(rng.Uint32())
		}
		m := open(t, r)
		var squared, squaredItems float64
		sum := make([]float64, x.Dim)
		for range perRound {
			report, err := m.EncodeTernary(nil, x, rng)
			if err != nil {
				t.Fatal(err)
			}
			agg := m.NewAggregator()
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
			e, err := agg.Estimate()
			if err != nil {
				t.Fatal(err)
			}
			for j, v := range e.Mean().Value {
				squared += (v - truth[j]) * (v - truth[j])
				sum[j] += v
			}
			if plus, ok := e.Column(fl.ColumnPlus); ok {
				minus, _ := e.Column(fl.ColumnMinus)
				squaredItems += itemError(plus.Value, minus.Value, truth)
			}
		}
		n := float64(perRound)
		mean.add(squared / n)
		items.add(squaredItems / n)
		for j := range sum {
			coordinates[j].add(sum[j] / n)
		}
	}
	mean.compare(t, "squared error of the mean", want.Mean, 0, z)
	if r.Columns != nil {
		items.compare(t, "squared error of the items", want.Items, 0, z)
	}
	least := math.Sqrt(want.Mean/float64(x.Dim)/float64(rounds*perRound)) / 2
	for j := range coordinates {
		coordinates[j].compare(t, "mean of a coordinate", truth[j], least, z)
	}
}

// measureScheme is measure for a scheme against its own formulas. Some entries of the vectors are dummies.
func measureScheme(t *testing.T, scheme *sparse.Scheme, p sparse.Point, dummies, rounds, perRound int, z float64, rng *rand.Rand) {
	t.Helper()
	c, err := scheme.Calibration(p)
	if err != nil {
		t.Fatal(err)
	}
	signal := p.Sparsity - dummies
	own, opposite, out := c.ItemVariance()
	want := exactErrors{Mean: c.MeanMSE(p.Dim, signal), Items: float64(signal)*(own+opposite) + 2*float64(p.Dim-signal)*out}
	if c.In.Own+c.In.Opposite-2*c.Out.Own < 1e-9*c.In.Own {
		want.Items = math.Inf(1) // items are hit as often as any other, and not estimated
	}
	measure(t, roundWith(t, scheme.Name(), p.Dim, p.Epsilon, scheme.Params(p)), input(p.Dim, p.Sparsity, dummies), rounds, perRound, want, z, rng)
}

func itemError(plus, minus, truth []float64) (squared float64) {
	for j, v := range truth {
		p, m := plus[j]-max(v, 0), minus[j]-max(-v, 0)
		squared += p*p + m*m
	}
	return squared
}

// moments of a sample.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(v float64) {
	m.n++
	m.sum += v
	m.squares += v * v
}

func (m *moments) compare(t *testing.T, what string, want, least, z float64) {
	t.Helper()
	average := m.sum / m.n
	se := max(least, math.Sqrt((m.squares/m.n-average*average)/m.n))
	if math.IsNaN(se) || math.Abs(average-want) > z*se+1e-9*math.Abs(want) {
		t.Errorf("%s: %.6g ± %.2g, want the exact %.6g (%.1f standard errors)", what, average, se, want, (average-want)/se)
	}
}
