package collision

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// n·MSE/(d·s) of the mean at the paper's t = ⌊s·e^ε⌋ + 2s − 1, from a direct
// evaluation in Python (10 digits were kept, 4 are shown), and never better than at
// the t found here.
func TestMSEAtRecordedPoints(t *testing.T) {
	for _, c := range []struct {
		dim, s    int
		eps, want float64
	}{{1024, 64, 0.5, 46.03}, {1024, 64, 1, 9.843}, {1024, 4, 1, 9.152}, {7850, 64, 1, 9.588}} {
		slots := int(float64(c.s)*math.Exp(c.eps)) + 2*c.s - 1
		mse, err := Scheme.MSE(sparse.Point{Dim: c.dim, Sparsity: c.s, Slots: slots, Epsilon: c.eps, Hash: "ideal"})
		if err != nil {
			t.Fatal(err)
		}
		if got := mse / float64(c.dim*c.s); math.Abs(got-c.want) > 2e-4*c.want {
			t.Errorf("%+v: %.4g at t = %d, want %g", c, got, slots, c.want)
		}
		best, err := Scheme.BestSlots(sparse.Point{Dim: c.dim, Sparsity: c.s, Epsilon: c.eps, Hash: "ideal"})
		if err != nil {
			t.Fatal(err)
		}
		if least, err := Scheme.MSE(sparse.Point{Dim: c.dim, Sparsity: c.s, Slots: best, Epsilon: c.eps, Hash: "ideal"}); err != nil || least > mse {
			t.Errorf("%+v: MSE %g at the best t = %d, %g at the paper's %d (%v)", c, least, best, mse, slots, err)
		}
	}
}

// One slot more than items is enough for privacy, and the smallest number there is.
func TestSlotsAreMoreThanItems(t *testing.T) {
	for _, hash := range []string{"ideal", "gf2"} {
		p := sparse.Point{Dim: 10, Sparsity: 3, Slots: 4, Epsilon: 1, Hash: hash}
		if _, err := Scheme.MSE(p); err != nil {
			t.Errorf("%s: 4 slots for 3 items: %v", hash, err)
		}
		_, _, err := fl.Complete(fl.Round{
			ID: "test", Mechanism: Name, Dim: p.Dim, Scale: 1, Epsilon: p.Epsilon, MinReports: 1, Params: Scheme.Params(p),
			PublicSeed: [32]byte{1},
		})
		if err != nil {
			t.Errorf("%s: a round with 4 slots for 3 items: %v", hash, err)
		}
	}
	p := sparse.Point{Dim: 10, Sparsity: 4, Slots: 4, Epsilon: 1}
	var refused *fl.ParamError
	if _, err := Scheme.MSE(p); !errors.As(err, &refused) || refused.Param != sparse.ParamSlots {
		t.Errorf("4 slots for 4 items: %v, want a ParamError for slots", err)
	}
}
