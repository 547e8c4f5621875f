package collision

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

var long = flag.Bool("long", false, "measure more rounds, and rounds of many coordinates at every ε")

// The estimates of the real code against the exact errors. 32 cases with 2
// errors each and at most 100 coordinates: 3264 tests. Of the averages of 150 rounds Student's t with
// 149 degrees of freedom is beyond 6.7 with probability 4.1e-10: the tests fail by chance with probability
// below 2e-6. Tests of 400 rounds do so less often.
func TestErrorsAreTheExactOnes(t *testing.T) {
	rounds := 150
	if *long {
		rounds = 400
	}
	rng := rand.New(rand.NewChaCha8([32]byte{11}))
	for _, hash := range []string{"gf2", "ideal"} {
		for _, s := range []int{1, 2, 8, 32, 64} {
			for _, eps := range []float64{0.1, 1, 5} {
				t.Run(fmt.Sprintf("%s/s=%d/eps=%g", hash, s, eps), func(t *testing.T) {
					measure(t, sparse.Point{Dim: 100, Sparsity: s, Epsilon: eps, Hash: hash}, 0, rounds, rng)
				})
			}
		}
		t.Run(hash+"/dummies", func(t *testing.T) {
			measure(t, sparse.Point{Dim: 100, Sparsity: 8, Epsilon: 1, Hash: hash}, 3, rounds, rng)
		})
	}
}

func measure(t *testing.T, p sparse.Point, dummies int, rounds int, rng *rand.Rand) {
	var err error
	if p.Slots, err = Scheme.BestSlotsForItems(p); err != nil {
		t.Fatal(err)
	}
	sparsetest.MeasureScheme(t, Scheme, p, dummies, rounds, 10, 6.7, rng)
}
