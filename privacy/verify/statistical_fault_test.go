package verify_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/verify"
)

// laplace is a local mechanism over one coordinate in [−1, 1].
type laplace struct {
	epsilon   float64
	clipAfter bool // what it clips is its output, not its input
}

func (l laplace) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: l.epsilon, Relation: fl.ReplaceOne}
}
func (l laplace) NewAggregator() fl.Aggregator { return &one{} }
func (l laplace) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	x, noise := grad[0], (rng.ExpFloat64()-rng.ExpFloat64())*2/l.epsilon
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return dst, fl.Invalid("gradient", x, "must be finite")
	case l.clipAfter:
		x = max(-1, min(1, x+noise))
	default:
		x = max(-1, min(1, x)) + noise
	}
	return fmt.Appendf(dst, "%g", x), nil
}

// response is randomized response on the sign; one report cannot be estimated.
type response struct{ promised, actual float64 }

func (r response) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: r.promised, Relation: fl.ReplaceOne}
}
func (r response) NewAggregator() fl.Aggregator { return &one{hidden: true} }
func (r response) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	if math.IsNaN(grad[0]) || math.IsInf(grad[0], 0) {
		return dst, fl.Invalid("gradient", grad[0], "must be finite")
	}
	if (grad[0] > 0) == (rng.Float64() < 1/(1+math.Exp(-r.actual))) {
		return append(dst, '1'), nil
	}
	return append(dst, '0'), nil
}

// noise sends reports that are all different and say nothing.
type noise struct{ response }

func (n noise) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	if _, err := n.response.Encode(nil, grad, rng); err != nil {
		return dst, err
	}
	return fmt.Appendf(dst, "%d", rng.Uint64()), nil
}

// one holds a single report.
type one struct {
	fl.Aggregator
	hidden bool
	value  float64
}

func (o *one) Add(report []byte) error {
	_, err := fmt.Sscan(string(report), &o.value)
	return err
}

func (o *one) Estimate() (*fl.Estimate, error) {
	if o.hidden {
		return nil, fl.ErrNoReports
	}
	return &fl.Estimate{Columns: []fl.Column{{Name: fl.ColumnMean, Series: fl.Series{Value: []float64{o.value}}}}}, nil
}

// weakSum promises the ε of one round with the noise of another.
type weakSum struct {
	fl.Mechanism
	promise fl.Guarantee
}

func (w weakSum) Guarantee() fl.Guarantee { return w.promise }

// 4 pairs in 2 directions with 2 bounds each share the probability of an error, and the
// most that n samples can show is n hits against none: p^n = alpha, ε = ln(p/(1−p)).
func TestTheErrorIsSharedByAllBounds(t *testing.T) {
	r := round("response", 1, 1, 0, "", 1)
	report := audit(t, response{1, 1}, r, verify.Options{Samples: 4001, Confidence: 0.99})
	p := math.Pow(0.01/16, 1./2001)
	want := fmt.Sprintf("no ε above %.3g can be found", math.Log(p/(1-p)))
	if !strings.Contains(strings.Join(report.Notes, "\n"), want) || report.Confidence != 0.99 {
		t.Errorf("%q, want %q", report.Notes, want)
	}
}

// Correct mechanisms are accused with probability at most 1e-6 each. Faults are found
// with a margin: the bounds of ε come out at least 5 standard errors above what is asked
// for, where the standard error of the logarithm of k/k', two counts, is √(1/k + 1/k') at most.
func TestStatisticsFindPlantedFaults(t *testing.T) {
	if !*long {
		t.Skip("audits on as many goroutines as TestCorrectMechanismsAreNotAccused does")
	}
	single := round("laplace", 1, 1, 0, "", 1)
	small := round("coco", 3, 2, 6, "ideal", 0.1)
	strict, weak := sumRound(2), sumRound(2)
	weak.Epsilon, weak.Delta = 20, 0.5
	complete, noisy, err := fl.Complete(weak)
	if err != nil {
		t.Fatal(err)
	}
	promise := fl.Guarantee{Trust: fl.Shuffle, Epsilon: strict.Epsilon, Delta: strict.Delta, Relation: strict.Relation}
	strict.Params = complete.Params
	for name, c := range map[string]struct {
		m     fl.Mechanism
		r     fl.Round
		holds bool
		least float64 // of ε found
		more  int     // times as many samples
	}{
		"Laplace":                  {laplace{epsilon: 1}, single, true, 0.3, 1},
		"clip after noise":         {laplace{epsilon: 1, clipAfter: true}, single, false, 4, 1},
		"randomized response":      {response{1, 1}, single, true, 0.6, 1},
		"weak randomized response": {response{1, 3}, single, false, 1.5, 1},
		"noise":                    {noise{response{0.1, 0.1}}, single, true, 0, 1},
		"CoCo":                     {planted(t, small, fault{}), small, true, 0, 1},
		"CoCo, swapped":            {planted(t, small, fault{classes: func(c []uint64) { c[0], c[2] = c[2], c[0] }}), small, false, 0.2, 4},
		"too little noise":         {weakSum{noisy, promise}, strict, false, 1.5, 1},
	} {
		report := audit(t, c.m, c.r, verify.Options{Method: verify.Statistical, Samples: 4000 * c.more})
		if report.Holds != c.holds || float64(report.EpsilonFound) < c.least || len(report.Faults) > 0 {
			t.Errorf("%s: %+v %+v", name, report, report.Worst)
		}
		t.Logf("%s: ε >= %.3g of %g, %+v", name, report.EpsilonFound, report.EpsilonPromised, *report.Worst)
	}
}
