package verify_test

import (
	"flag"
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/internal/bigref"
	"github.com/hushgrad/hushgrad/privacy/verify"
)

var long = flag.Bool("long", false, "verify larger domains, with more samples")

func TestTheRealMechanismsHoldExactly(t *testing.T) {
	for _, c := range []struct {
		mechanism            string
		dim, sparsity, slots int
		hash                 string
		epsilon              float64
		inputs               int // 2^s·C(d+s, s), twice for s > 1
	}{
		{"coco", 2, 1, 2, "gf2", 1, 6},
		{"coco", 3, 2, 4, "gf2", 0.1, 80},
		{"coco", 3, 2, 6, "ideal", 5, 80},
		{"coco", 3, 3, 6, "ideal", 1, 320},
		{"collision", 3, 1, 4, "gf2", 20, 8},
		{"collision", 3, 2, 4, "gf2", 1, 80},
		{"collision", 2, 2, 5, "ideal", 0.01, 48},
		{"signsketch", 3, 1, 0, "", 1, 8},
		{"signsketch", 3, 2, 0, "", 3, 80},
	} {
		seeds := 40
		if !*long {
			seeds = 10
		}
		r := round(c.mechanism, c.dim, c.sparsity, c.slots, c.hash, c.epsilon)
		report := check(t, r, verify.Options{Method: verify.Exact, Seeds: seeds})
		if !report.Holds || report.Method != verify.Exact || report.Inputs != c.inputs || report.Seeds != seeds || report.Sequences == 0 || len(report.Faults) > 0 {
			t.Errorf("%+v: %+v", c, report)
		}
		// The bound is attained up to the rounding of the weights, 2^−24.
		ratio, ok := new(big.Rat).SetString(report.Worst.Ratio)
		if !ok || ratio.Cmp(bigref.LowerExp(c.epsilon)) > 0 {
			t.Errorf("%+v: ratio %s exceeds e^ε", c, report.Worst.Ratio)
		}
		if found := float64(report.EpsilonFound); found > c.epsilon || found < c.epsilon-0x1p-23 {
			t.Errorf("%+v: ε found %g, want %g", c, found, c.epsilon)
		}
		if math.IsNaN(float64(report.EpsilonFound)) || report.Worst.Seed == nil || report.Worst.Input == report.Worst.Other {
			t.Errorf("%+v: worst %+v", c, report.Worst)
		}
	}
}
