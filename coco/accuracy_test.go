package coco

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/mechtest"
)

// The estimates of the real code against the exact errors. 31 cases with 2
// errors each and at most 100 coordinates: 3162 normal tests at 6.2 standard
// errors fail by chance with probability below 3162·6e-10 < 2e-6.
func TestErrorsAreTheExactOnes(t *testing.T) {
	reports := 4000
	if testing.Short() {
		reports = 1500
	}
	rng := rand.New(rand.NewChaCha8([32]byte{11}))
	for _, s := range []int{1, 2, 8, 32, 64} {
		for _, eps := range []float64{0.1, 1, 5} {
			for objective, best := range objectives {
				t.Run(fmt.Sprintf("s=%d/eps=%g/best for %s", s, eps, objective), func(t *testing.T) {
					measure(t, s, 0, eps, best, reports, rng)
				})
			}
		}
	}
	t.Run("dummies", func(t *testing.T) { measure(t, 8, 3, 1, BestSlotsForSupport, reports, rng) })
}

// objectives are the two ways to choose the number of slots. At small ε the
// first one gives t = 2s.
var objectives = map[string]func(dim, sparsity int, epsilon float64) (int, error){
	"the mean":    BestSlots,
	"the support": BestSlotsForSupport,
}

func measure(t *testing.T, s, dummies int, eps float64, best func(int, int, float64) (int, error), reports int, rng *rand.Rand) {
	const dim = 100
	slots, err := best(dim, s, eps)
	if err != nil {
		t.Fatal(err)
	}
	r := mechtest.Round(t, Name, dim, s, eps)
	r.Params = r.Params.With("slots", fl.Int(slots))
	c, err := idealCalibration(dim, s, slots, eps)
	if err != nil {
		t.Fatal(err)
	}
	own, opposite, out := c.FrequencyVariance()
	signal := s - dummies
	frequencies := float64(signal)*(own+opposite) + 2*float64(dim-signal)*out
	if slots == 2*s {
		frequencies = math.Inf(1) // every pair weighs the same
	}
	mechtest.Measure(t, mechtest.Open(t, r), mechtest.Input(dim, s, dummies), reports, mechtest.Errors{
		Mean:        c.MeanMSE(dim, signal),
		Frequencies: frequencies,
	}, 6.2, rng)
}
