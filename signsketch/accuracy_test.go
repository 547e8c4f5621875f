package signsketch

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/internal/gf2"
	"github.com/hushgrad/hushgrad/internal/walsh"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

// ρ against the hypergeometric law in exact rational arithmetic, and its limit.
func TestAgreementIsTheHypergeometricSum(t *testing.T) {
	binomial := func(n, k int64) *big.Int {
		if k > n {
			return new(big.Int)
		}
		return new(big.Int).Binomial(n, k)
	}
	for _, c := range [][2]int{{1, 4}, {2, 4}, {3, 4}, {8, 4}, {9, 5}, {31, 8}, {64, 10}} {
		s, all := int64(c[0]), int64(1)<<c[1]
		rho, total := new(big.Int), binomial(all-1, s-1)
		for a := range s {
			ways := new(big.Int).Mul(binomial(all/2-1, a), binomial(all/2, s-1-a))
			switch {
			case 2*(a+1) > s:
				rho.Add(rho, ways)
			case 2*(a+1) < s:
				rho.Sub(rho, ways)
			}
		}
		want, _ := new(big.Rat).SetFrac(rho, total).Float64()
		if got := agreement(c[0], c[1]); math.Abs(got-want) > 1e-13 {
			t.Errorf("s=%d m=%d: ρ = %.16g, want %.16g", c[0], c[1], got, want)
		}
	}
	for _, s := range []int64{1, 2, 7, 64} {
		limit := new(big.Rat).SetFrac(binomial(s-1, (s-1)/2), new(big.Int).Lsh(big.NewInt(1), uint(s-1)))
		want, _ := limit.Float64()
		if got := agreement(int(s), 30); math.Abs(got-want) > 1e-6 {
			t.Errorf("s=%d: ρ = %.9g for 2^30 labels, the limit is %.9g", s, got, want)
		}
	}
}

// n·MSE/(d·s) at the points for which it was recorded from a Monte Carlo
// simulation, to three digits: 26.4 and 7.41 at s = 64, ε = 0.5 and 1; 8.33 at s = 4,
// ε = 1.
func TestMSEAtRecordedPoints(t *testing.T) {
	for _, c := range []struct {
		s         int
		eps, want float64
	}{{64, 0.5, 26.4}, {64, 1, 7.41}, {4, 1, 8.33}} {
		mse, err := Scheme.MSE(sparse.Point{Dim: 7850, Sparsity: c.s, Epsilon: c.eps})
		if err != nil {
			t.Fatal(err)
		}
		if got := mse / float64(7850*c.s); math.Abs(got-c.want) > 0.01*c.want {
			t.Errorf("%+v: %.4g, want %g", c, got, c.want)
		}
	}
}

// The real code against the exact errors. 9 cases with at most 101 normal tests
// each at 6 standard errors: false-positive rate below 2e-6.
func TestErrorsAreTheExactOnes(t *testing.T) {
	for _, s := range []int{1, 4, 9} {
		for _, eps := range []float64{0.1, 1, 5} {
			t.Run(fmt.Sprintf("s=%d/eps=%g", s, eps), func(t *testing.T) {
				rng := rand.New(rand.NewChaCha8([32]byte{41, byte(s)}))
				mse, err := Scheme.MSE(sparse.Point{Dim: 100, Sparsity: s, Epsilon: eps})
				if err != nil {
					t.Fatal(err)
				}
				sparsetest.Measure(t, sparsetest.Round(t, Name, 100, s, eps), sparsetest.Input(100, s, 0), 60, 10, sparsetest.Errors{
					Mean: mse, Items: math.Inf(1),
				}, 6, rng)
			})
		}
	}
}

// If all clients hold the same vector, the labels of a round alias it onto itself.
// The expectation over all sign functions, for fixed labels, is computed exactly:
// the majority as a function of c, transformed, is the expected bit·σ at every
// label. The relative bias of the coordinates must have a standard deviation below
// 1 %; over 30 rounds of 64 coordinates the estimate of it is within 3 % of itself.
func TestAliasingStaysBelowOnePercent(t *testing.T) {
	if testing.Short() {
		t.Skip("30 transforms of length 2^19")
	}
	const s = 64
	m := bits.Len(uint(minKeys(s) - 1))
	rng := rand.New(rand.NewChaCha8([32]byte{42}))
	squares, n := 0.0, 0.0
	for range 30 {
		var key [32]byte
		for i := range key {
			key[i] = byte(rng.Uint32())
		}
		all, err := gf2.NewLabels(1<<m, key)
		if err != nil {
			t.Fatal(err)
		}
		var labels [s]uint32
		for i := range labels {
			labels[i] = all.Of(uint32(i))
		}
		majority := make([]int64, 1<<m)
		for c := range majority {
			sum := 0
			for _, l := range labels {
				sum += 1 - 2*(bits.OnesCount32(uint32(c)&l)&1)
			}
			switch { // ties give 0 on average
			case sum > 0:
				majority[c] = 1
			case sum < 0:
				majority[c] = -1
			}
		}
		if err := walsh.Transform(majority); err != nil {
			t.Fatal(err)
		}
		rho := agreement(s, m)
		for _, l := range labels {
			bias := float64(majority[l])/math.Exp2(float64(m))/rho - 1
			squares += bias * bias
			n++
		}
	}
	sd := math.Sqrt(squares / n)
	t.Logf("relative bias: standard deviation %.3f %% with 2^%d labels", 100*sd, m)
	if sd > 0.01 {
		t.Errorf("relative bias: standard deviation %.3f %%, want below 1 %%", 100*sd)
	}
}
