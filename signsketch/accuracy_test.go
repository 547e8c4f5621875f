package signsketch

import (
	"cmp"
	"flag"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/internal/gf2"
	"github.com/hushgrad/hushgrad/internal/walsh"
	"github.com/hushgrad/hushgrad/sparse"
)

var long = flag.Bool("long", false, "measure all ε")

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

// If all clients hold the same vector, the labels of a round alias it onto itself and onto all
// other coordinates. The expectation over all sign functions, for fixed labels, is computed
// exactly: the majority as a function of c, transformed, is the expected bit·σ at every label.
// The majority is the sign of a sum of 64 signs. As a function of c that sum is a transform, too: of
// the number of coordinates at each label.
// The errors of the 64 coordinates that are held must have a standard deviation below 1 %.
// These errors, and the errors of 1024 other coordinates, must have the standard deviation that
// function aliasing predicts. Over 30 rounds the 1920 errors of held coordinates estimate their mean
// square to √(2/1920) = 3.2 % of itself, and the 30 720 errors of the others estimate theirs to
// 0.8 %: 20 and 5 percent are 6 standard errors.
//
// With 2·10^6 reports at ε = 3 on top of that, intervals of 95 % must cover 93 %: at 95 % fewer
// of 32 640 have probability below 1e-20.
func TestAliasingIsInTheStandardErrors(t *testing.T) {
	if !*long {
		t.Skip("60 transforms of length 2^19")
	}
	const s, others, reports = 64, 1024, 2e6
	m := bits.Len(uint(minKeys(s) - 1))
	rho, predicted := agreement(s, m), aliasing(sparse.Point{Dim: s + others, Sparsity: s})*s
	gain := 1 / (rho * math.Tanh(3./2))
	rng := rand.New(rand.NewChaCha8([32]byte{42}))
	var squares [2]float64 // of held coordinates, of others
	covered, coveredByNoise := 0.0, 0.0
	for range 30 {
		var key [32]byte
		for i := range key {
			key[i] = byte(rng.Uint32())
		}
		all, err := gf2.NewLabels(1<<m, key)
		if err != nil {
			t.Fatal(err)
		}
		majority := make([]int64, 1<<m)
		for i := range uint32(s) {
			majority[all.Of(i)]++
		}
		if err := walsh.Transform(majority); err != nil {
			t.Fatal(err)
		}
		for c, sum := range majority { // ties give 0 on average
			majority[c] = int64(cmp.Compare(sum, 0))
		}
		if err := walsh.Transform(majority); err != nil {
			t.Fatal(err)
		}
		for i := range uint32(s + others) {
			value, which := float64(majority[all.Of(i)])/math.Exp2(float64(m))/rho, 1
			bias := value
			if i < s {
				bias, which = value-1, 0
			}
			squares[which] += bias * bias
			noise := (gain*gain - value*value) / reports
			z := math.Abs(bias + rng.NormFloat64()*math.Sqrt(noise))
			if z < 1.96*math.Sqrt(noise) {
				coveredByNoise++
			}
			if z < 1.96*math.Sqrt(noise+predicted) {
				covered++
			}
		}
	}
	held, rest := squares[0]/(30*s), squares[1]/(30*others)
	share, byNoise := covered/(30*(s+others)), coveredByNoise/(30*(s+others))
	t.Logf("with 2^%d labels: standard deviation %.3f %% of held coordinates, %.3f %% of others, predicted %.3f %%", m, 100*math.Sqrt(held), 100*math.Sqrt(rest), 100*math.Sqrt(predicted))
	t.Logf("%g reports at ε = 3: 95 %% intervals cover %.4f, without aliasing %.4f", reports, share, byNoise)
	if !(math.Sqrt(held) < 0.01) || math.Abs(held/predicted-1) > 0.2 || math.Abs(rest/predicted-1) > 0.05 {
		t.Errorf("squared errors of %.4g and %.4g, want %.4g", held, rest, predicted)
	}
	if share < 0.93 {
		t.Errorf("95 %% intervals cover %.4f, want 0.93", share)
	}
}
