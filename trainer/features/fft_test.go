package features

import (
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Both directions are gonum's, for all lengths that pictures have and for primes.
func TestTransformsOfColumns(t *testing.T) {
	const cols = 3
	rng := rand.New(rand.NewPCG(4, 7))
	for _, n := range []int{1, 2, 3, 4, 6, 8, 12, 16, 18, 20, 32, 36, 61, 64, 97, 128, 244, 260} {
		x := make([]complex128, n*cols)
		for i := range x {
			x[i] = complex(rng.NormFloat64(), rng.NormFloat64())
		}
		theirs := fourier.NewCmplxFFT(n)
		for sign, want := range map[float64]func(dst, x []complex128) []complex128{-1: theirs.Coefficients, 1: theirs.Sequence} {
			in := append([]complex128(nil), x...)
			got, _ := newFFT(n, sign).columns(in, make([]complex128, n*cols), cols)
			for c := range cols {
				column := make([]complex128, n)
				for r := range column {
					column[r] = x[r*cols+c]
				}
				for r, v := range want(nil, column) {
					if diff := cmplx.Abs(got[r*cols+c] - v); diff > 1e-11 {
						t.Fatalf("length %d, sign %g, row %d: %v, want %v", n, sign, r, got[r*cols+c], v)
					}
				}
			}
		}
	}
}
