package collision

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

// The ternary search must find what trying every t finds.
func TestBestSlotsAgainstExhaustion(t *testing.T) {
	for _, search := range []struct {
		hash string
		name string
		best func(sparse.Point) (int, error)
		mse  func(sparse.Point) (float64, error)
	}{
		{"ideal", "mean", Scheme.BestSlots, Scheme.MSE}, {"ideal", "frequency", Scheme.BestSlotsForItems, Scheme.ItemMSE},
		{"gf2", "mean", Scheme.BestSlots, Scheme.MSE}, {"gf2", "frequency", Scheme.BestSlotsForItems, Scheme.ItemMSE},
	} {
		for _, c := range []struct {
			dim, s int
			eps    float64
		}{{100, 1, 0.01}, {100, 1, 5}, {7850, 8, 0.1}, {7850, 64, 1}, {100, 64, 5}, {131072, 3, 2}} {
			got, err := search.best(sparse.Point{Dim: c.dim, Sparsity: c.s, Epsilon: c.eps, Hash: search.hash})
			if err != nil {
				t.Fatal(err)
			}
			best, at := math.Inf(1), 0
			for slots := c.s + 1; slots < 60*c.s*int(1+math.Exp(c.eps)); slots++ {
				if search.hash == "gf2" && slots&(slots-1) != 0 {
					continue // the family has powers of two only
				}
				mse, err := search.mse(sparse.Point{Dim: c.dim, Sparsity: c.s, Slots: slots, Epsilon: c.eps, Hash: search.hash})
				if err != nil { // more slots than the family has
					continue
				}
				if mse < best {
					best, at = mse, slots
				}
			}
			if got != at {
				t.Errorf("%s %s %+v: got t = %d, exhaustion finds %d", search.hash, search.name, c, got, at)
			}
		}
	}
}

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
		sparsetest.Open(t, sparsetest.RoundWith(t, Name, p.Dim, p.Epsilon, Scheme.Params(p)))
	}
	p := sparse.Point{Dim: 10, Sparsity: 4, Slots: 4, Epsilon: 1}
	var refused *fl.ParamError
	if _, err := Scheme.MSE(p); !errors.As(err, &refused) || refused.Param != sparse.ParamSlots {
		t.Errorf("4 slots for 4 items: %v, want a ParamError for slots", err)
	}
}
