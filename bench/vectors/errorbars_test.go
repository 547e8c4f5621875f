package vectors

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// Wilson's interval of 8 of 10: Wilson, "Probable inference, the law of succession, and
// statistical inference", JASA 1927, gives 0.4902 to 0.9433. That of 10 of 10 has a width.
func TestSharesHaveWilsonsInterval(t *testing.T) {
	s := shares{covered: 8, coordinates: 10}
	if i := s.interval(); i.Value != 0.8 || math.Abs(i.Low-0.4902) > 1e-4 || math.Abs(i.High-0.9433) > 1e-4 {
		t.Errorf("8 of 10: %+v", i)
	}
	s.covered = 10
	if i := s.interval(); i.Value != 1 || math.Abs(i.Low-0.7225) > 1e-4 || i.High < 1-1e-12 {
		t.Errorf("10 of 10: %+v", i)
	}
}

// Every setting counts all its coordinates and those that clients hold, and its verdict falls when
// too few are covered.
func TestTooLittleCoverageIsFound(t *testing.T) {
	settings := coverageSettings([]int{30})
	for i, c := range settings {
		for k := range 10 {
			if err := c.round(t.Context(), experiment.Stream(1, uint64(i), uint64(k))); err != nil {
				t.Fatal(err)
			}
		}
		if c.all.coordinates != 10*coverageDim || c.held.coordinates != 10*c.sparsity || c.all.covered < c.held.covered {
			t.Errorf("%s: %+v of all, %+v of those that clients hold", c.name, c.all, c.held)
		}
	}
	if r := reportCoverage(settings); !r.Verdicts[0].Holds {
		t.Errorf("as measured: %+v", r.Verdicts[0])
	}
	settings[3].held.covered /= 2
	if r := reportCoverage(settings); r.Verdicts[0].Holds {
		t.Errorf("half of it: %+v", r.Verdicts[0])
	}
}
