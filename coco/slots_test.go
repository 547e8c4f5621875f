package coco

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
)

// The ternary search must find what trying every t finds.
func TestBestSlotsAgainstExhaustion(t *testing.T) {
	for _, search := range []struct {
		name string
		best func(dim, sparsity int, epsilon float64) (int, error)
		mse  func(dim, sparsity, slots int, epsilon float64) (float64, error)
	}{{"mean", BestSlots, MSE}, {"support", BestSlotsForSupport, SupportMSE}} {
		for _, c := range []struct {
			dim, s int
			eps    float64
		}{{100, 1, 0.01}, {100, 1, 5}, {7850, 8, 0.1}, {7850, 8, 1}, {7850, 64, 1}, {100, 64, 5}, {131072, 3, 2}} {
			got, err := search.best(c.dim, c.s, c.eps)
			if err != nil {
				t.Fatal(err)
			}
			best, at := math.Inf(1), 0
			for slots := 2 * c.s; slots < 60*c.s*int(1+math.Exp(c.eps)); slots += 2 {
				mse, err := search.mse(c.dim, c.s, slots, c.eps)
				if err != nil {
					t.Fatal(err)
				}
				if mse < best {
					best, at = mse, slots
				}
			}
			if got != at {
				t.Errorf("%s %+v: got t = %d, exhaustion finds %d", search.name, c, got, at)
			}
		}
	}
}

// n·MSE/(d·s) at the best t, from a direct evaluation of Lemma 3 in Python over
// all even t (10 digits were kept, 4 are shown).
func TestMSEAtRecordedPoints(t *testing.T) {
	for _, c := range []struct {
		dim, s    int
		eps, want float64
	}{{1024, 64, 0.5, 39.41}, {1024, 64, 1, 9.049}, {1024, 4, 1, 8.093}, {7850, 64, 1, 8.895}, {7850, 4, 1, 8.085}, {1000000, 64, 0.5, 39.23}} {
		slots, err := BestSlots(c.dim, c.s, c.eps)
		if err != nil {
			t.Fatal(err)
		}
		mse, err := MSE(c.dim, c.s, slots, c.eps)
		if err != nil {
			t.Fatal(err)
		}
		if got := mse / float64(c.dim*c.s); math.Abs(got-c.want) > 2e-4*c.want {
			t.Errorf("%+v: %.4g at t = %d, want %g", c, got, slots, c.want)
		}
	}
}

// Where CoCo gains over Collision, each at its best t: a third at ε = 0.1, a few
// percent at ε = 2, nothing at ε = 5. The exact formulas say so, not a flat rate.
func TestGainOverCollision(t *testing.T) {
	for _, c := range []struct{ eps, low, high float64 }{{0.1, 1.30, 1.36}, {2, 1.01, 1.04}, {5, 1.0, 1.01}} {
		for _, s := range []int{8, 64} {
			mse := func(best func(int, int, float64) (int, error), f func(int, int, int, float64) (float64, error)) float64 {
				slots, err := best(7850, s, c.eps)
				if err != nil {
					t.Fatal(err)
				}
				v, err := f(7850, s, slots, c.eps)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			gain := mse(collision.BestSlots, collision.MSE) / mse(BestSlots, MSE)
			t.Logf("ε=%g s=%d: Collision's MSE is %.3f of CoCo's", c.eps, s, gain)
			if gain < c.low || gain > c.high {
				t.Errorf("ε=%g s=%d: gain %.3f, want within [%g, %g]", c.eps, s, gain, c.low, c.high)
			}
		}
	}
}

func TestMSERefuses(t *testing.T) {
	for _, c := range []struct {
		dim, s, slots int
		eps           float64
	}{{0, 1, 4, 1}, {10, 0, 4, 1}, {10, 11, 40, 1}, {10, 2, 3, 1}, {10, 2, 5, 1}, {10, 2, 4, 0}, {10, 2, 4, 21}, {10, 2, 4, math.NaN()}} {
		_, err := MSE(c.dim, c.s, c.slots, c.eps)
		var p *fl.ParamError
		if !errors.As(err, &p) {
			t.Errorf("MSE(%+v): error %v, want a ParamError", c, err)
		}
	}
}
