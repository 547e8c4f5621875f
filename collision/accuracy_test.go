package collision

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/internal/mechtest"
)

// The estimates of the real code against the exact errors. 16 cases with 2
// errors each and at most 100 coordinates: 1632 normal tests at 6.2 standard
// errors fail by chance with probability below 1632·6e-10 < 1e-6.
func TestErrorsAreTheExactOnes(t *testing.T) {
	reports := 6000
	if testing.Short() {
		reports = 1500
	}
	rng := rand.New(rand.NewChaCha8([32]byte{11}))
	for _, s := range []int{1, 2, 8, 32, 64} {
		for _, eps := range []float64{0.1, 1, 5} {
			t.Run(fmt.Sprintf("s=%d/eps=%g", s, eps), func(t *testing.T) {
				measure(t, s, 0, eps, reports, rng)
			})
		}
	}
	t.Run("dummies", func(t *testing.T) { measure(t, 8, 3, 1, reports, rng) })
}

func measure(t *testing.T, s, dummies int, eps float64, reports int, rng *rand.Rand) {
	const dim = 100
	r := mechtest.Round(t, Name, dim, s, eps)
	slots, err := r.Params.Int("slots")
	if err != nil {
		t.Fatal(err)
	}
	c, err := idealCalibration(dim, s, slots, eps)
	if err != nil {
		t.Fatal(err)
	}
	own, opposite, out := c.FrequencyVariance()
	signal := s - dummies
	mechtest.Measure(t, mechtest.Open(t, r), mechtest.Input(dim, s, dummies), reports, mechtest.Errors{
		Mean:        c.MeanMSE(dim, signal),
		Frequencies: float64(signal)*(own+opposite) + 2*float64(dim-signal)*out,
	}, 6.2, rng)
}
