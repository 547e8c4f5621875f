package privunit

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

var long = flag.Bool("long", false, "measure all ε")

// unit returns a gradient of norm 1: spread over all coordinates, or over the first few.
func unit(rng *rand.Rand, dim, entries int) []float64 {
	x, square := make([]float64, dim), 0.0
	for j := range entries {
		x[j] = 1 - 2*float64(j%2)
		if entries > 2 {
			x[j] = rng.NormFloat64()
		}
		square += x[j] * x[j]
	}
	for j := range x {
		x[j] /= math.Sqrt(square)
	}
	return x
}

// measure returns the expectation, over the choices, of the reported candidate's scalar product with the rotated unit vector, and
// of its square, under a seed, averaged over the vector and its opposite.
func (e *encoder) measure(x []float64, seed uint32) (product, square float64, err error) {
	if err := e.rank(x, seed); err != nil {
		return 0, 0, err
	}
	total, norm := 0.0, 0.0
	for _, c := range e.columns {
		for b := range 64 {
			level := 0.0
			for _, plane := range c.planes {
				level = 2*level + float64(plane>>b&1)
			}
			total += level
			norm += level * level
		}
	}
	w, k := e.mechanism.weights, e.mechanism.point.Candidates
	for place, sum := range e.opposed {
		s := (total - 2*float64(sum>>16)) / math.Sqrt(norm)
		for sign, at := range []int{place, k - 1 - place} {
			p := float64(w.Low)
			if at < e.mechanism.point.Likely {
				p = float64(w.High)
			}
			p /= 2 * float64(w.Total)
			product += p * s * float64(1-2*sign)
			square += p * s * s
		}
	}
	return product, square, nil
}

// The slope that estimates divide by is the one of the code, for gradients that are spread and for one and two coordinates.
// 24 normal tests at 6 standard errors, below 5e-8, where the correction for sums of signs may be off by 0.0015
// of the slope and 0.005 of the square.
func TestSlope(t *testing.T) {
	const dim = 650
	draws := map[float64]int{1: 1500, 2: 1500, 4: 1500, 8: 4000}
	rng := rand.New(rand.NewChaCha8([32]byte{4}))
	for _, epsilon := range []float64{1, 2, 4, 8} {
		for _, entries := range []int{dim, 1, 2} {
			n := draws[epsilon]
			if !*long {
				n /= 15
			}
			m := open(t, fl.Round{Dim: dim, Scale: 1, Epsilon: epsilon})
			e, x := m.newEncoder(), unit(rng, dim, entries)
			var sum, squares, second, seconds float64
			for range n {
				product, square, err := e.measure(x, rng.Uint32())
				if err != nil {
					t.Fatal(err)
				}
				product, square = product/m.law.slope, square/m.law.square
				sum, squares = sum+product, squares+product*product
				second, seconds = second+square, seconds+square*square
			}
			mean, meanSquare, count := sum/float64(n), second/float64(n), float64(n)
			se, seSquare := math.Sqrt((squares/count-mean*mean)/count), math.Sqrt((seconds/count-meanSquare*meanSquare)/count)
			t.Logf("ε=%g, %d entries: slope %.4f ± %.4f, square %.4f ± %.4f of what was computed", epsilon, entries, mean, se, meanSquare, seSquare)
			if math.Abs(mean-1) > 0.0015+6*se || math.Abs(meanSquare-1) > 0.005+6*seSquare {
				t.Errorf("ε=%g, %d entries: slope %.4f ± %.4f, square %.4f ± %.4f of what was computed", epsilon, entries, mean, se, meanSquare, seSquare)
			}
		}
	}
}

// Whole rounds are as accurate as the formula says. False-positive rate: 4 rounds with 23 statistics each at
// 8 standard errors of 39 degrees of freedom, 1e-7. A standard error holds for every coordinate, and leaves
// out what a large coordinate takes from it: less than a fifth here.
func TestRoundsHaveTheExactError(t *testing.T) {
	const dim, scale = 20, 0.5
	rng := rand.New(rand.NewChaCha8([32]byte{5}))
	gradients, truth := make([][]float64, 4), make([]float64, dim)
	for i := range gradients {
		gradients[i] = unit(rng, dim, []int{dim, 1, 2, dim}[i])
		for j := range truth {
			gradients[i][j] *= scale
			truth[j] += gradients[i][j] / 4
		}
	}
	for _, epsilon := range []float64{1, 4} {
		for _, candidates := range []int{16, 256} {
			if candidates > 16 && !*long {
				continue
			}
			t.Run(fmt.Sprintf("ε=%g/k=%d", epsilon, candidates), func(t *testing.T) {
				m := open(t, fl.Round{Dim: dim, Scale: scale, Epsilon: epsilon, Params: fl.Params{ParamCandidates: fl.Int(candidates)}})
				mse, err := m.point.MSE()
				if err != nil {
					t.Fatal(err)
				}
				if err := fltest.Rounds(m.round.Round, fltest.Accuracy{Gradients: gradients, Truth: truth, MSE: mse * scale * scale, StdErrFactor: 1.2, Reports: 200, Rounds: 40, Z: 8}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
