package vectors

import (
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

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
