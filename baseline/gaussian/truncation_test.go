package gaussian

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/baseline/internal/rounded"
)

// With the same randomness, coordinates less than a step apart from 0 give the report of 0,
// on either side, and others that of the next multiple towards 0.
func TestTruncationIsTowardsZero(t *testing.T) {
	noise, err := rounded.New()
	if err != nil {
		t.Fatal(err)
	}
	p := perturber{noise: noise, step: 0.25}
	draw := func(seed byte, x, clip float64) []byte {
		grad := make([]float64, 200)
		for j := range grad {
			grad[j] = x
		}
		return p.Perturb(nil, grad, clip, rand.New(rand.NewChaCha8([32]byte{seed})))
	}
	for _, c := range []struct {
		x, clip float64
		steps   int64
	}{{0.249, 1, 0}, {-0.249, 1, 0}, {0.999, 1, 3}, {-0.999, 1, -3}, {-1, 1, -4}, {80, 0.5, 160}} {
		// Whether one step more is seen in a report of 32 steps is a matter of chance.
		differs := 0
		for seed := range byte(10) {
			got, rng := draw(seed, c.x, c.clip), rand.New(rand.NewChaCha8([32]byte{seed}))
			for j := range 200 {
				if want := int16((c.steps + noise.Rand(rng)) >> coarsening); int16(binary.LittleEndian.Uint16(got[2*j:])) != want {
					differs++
				}
			}
		}
		if differs > 0 {
			t.Errorf("%+v: %d of 2000 reports differ", c, differs)
		}
	}
}

// The largest outcomes fit 16 bits.
func TestOutcomesFit(t *testing.T) {
	largest := rounded.Deviation/leastSigma*slack + rounded.Limit
	if !(largest < 1<<(15+coarsening)) {
		t.Errorf("outcomes up to %g need more than 16 bits", largest)
	}
}
