package sparsetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// CheckRounds runs whole rounds of a slotted mechanism with both hash families
// against the exact error, and checks the bias of coordinates that half of the
// clients share. At most 72 t-tests with 39 degrees of freedom at 8 (1e-9 each) and
// 72·128 normal tests at 6.5 standard errors (8e-11 each): false-positive rate below
// 1e-6.
func CheckRounds(t *testing.T, mechanism string, best func(sparse.Point) (int, error), calibration func(sparse.Point) (sparse.Calibration, error)) {
	t.Helper()
	dims := []int{1000, 7850, 131072}
	if testing.Short() {
		dims = dims[:1]
	}
	rng := rand.New(rand.NewChaCha8([32]byte{51}))
	for _, dim := range dims {
		for _, s := range []int{1, 8, 31, 64} {
			for _, eps := range []float64{0.5, 1, 5} {
				for _, hash := range []string{"gf2", "ideal"} {
					t.Run(fmt.Sprintf("%s/d=%d/s=%d/eps=%g", hash, dim, s, eps), func(t *testing.T) {
						p := sparse.Point{Dim: dim, Sparsity: s, Epsilon: eps, Hash: hash}
						var err error
						if p.Slots, err = best(p); err != nil {
							t.Fatal(err)
						}
						c, err := calibration(p)
						if err != nil {
							t.Fatal(err)
						}
						in, out := c.MeanVariance()
						r := RoundWith(t, mechanism, dim, eps, fl.Params{
							"sparsity": fl.Int(s), "slots": fl.Int(p.Slots), "hash": fl.Text(hash),
						})
						MeasureRounds(t, r, 40, 20, c.MeanMSE(dim, s), (in+out)/2, 8, 6.5, rng)
					})
				}
			}
		}
	}
}
