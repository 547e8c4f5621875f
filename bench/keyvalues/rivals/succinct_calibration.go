package rivals

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sample"
	"github.com/hushgrad/hushgrad/sparse"
)

// Limits of parameters.
const (
	MaxSuccinctBuckets = 1 << 16
	minBeta            = 1e-30
)

// SuccinctClip returns the bound η of the sum that one of n clients with the given number of
// keys reports: the least integer up to the sparsity that the comment of Succinct allows.
// The error is a *fl.ParamError (wrapped).
func SuccinctClip(sparsity, buckets, reports int, beta float64) (int, error) {
	clip, err := leastClip(sparsity, buckets, reports, beta)
	if err != nil {
		return 0, fmt.Errorf("succinct: clip: %w", err)
	}
	return clip, nil
}

func leastClip(sparsity, buckets, reports int, beta float64) (int, error) {
	switch {
	case sparsity < 1 || sparsity > sparse.MaxSparsity:
		return 0, fl.Invalid(sparse.ParamSparsity, sparsity, "must be in [1, %d]", sparse.MaxSparsity)
	case buckets < 1 || buckets > MaxSuccinctBuckets:
		return 0, fl.Invalid(ParamBuckets, buckets, "must be in [1, %d]", MaxSuccinctBuckets)
	case reports < 1 || reports > fl.MaxReports:
		return 0, fl.Invalid("reports", reports, "must be in [1, %d]", fl.MaxReports)
	case !(beta >= minBeta && beta < 1):
		return 0, fl.Invalid(ParamBeta, beta, "must be in [%g, 1)", minBeta)
	}
	s, b, level := float64(sparsity), float64(buckets), math.Log(4*float64(reports)/beta)
	// bound is the η at which λ proves the probability β/(2n). It falls and then rises
	// with λ, because the numerator is convex; every λ is valid. 2·sinh²(λ/2) is
	// cosh λ − 1.
	bound := func(lambda float64) float64 {
		sinh := math.Sinh(lambda / 2)
		return (s*math.Log1p(2*sinh*sinh/b) + level) / lambda
	}
	// Ternary search on a logarithmic scale: (2/3)^100 of it is left.
	low, high := -20.0, math.Log(500)
	for range 100 {
		third := (high - low) / 3
		if bound(math.Exp(low+third)) < bound(math.Exp(high-third)) {
			high -= third
		} else {
			low += third
		}
	}
	return int(min(s, math.Ceil(bound(math.Exp(low))))), nil
}

// newNoise returns the noise for a clipped sum and the number of bytes of a report's
// integer.
func newNoise(epsilon float64, clip int) (noise sample.DiscreteLaplace, bytes int, err error) {
	width := 2 * float64(clip)
	eta := epsilon / width
	// The fused product is exact before its only rounding, which keeps the sign.
	if math.FMA(eta, width, -epsilon) > 0 {
		eta = math.Nextafter(eta, 0)
	}
	const tail = 100 // P[|X| ≥ k] ≤ 2·e^(−η·k)
	for bytes = 1; bytes <= 4; bytes++ {
		if float64(clip)+(tail+1)/eta < math.Ldexp(1, 8*bytes-1) {
			return sample.DiscreteLaplace{Eta: eta}, bytes, nil
		}
	}
	return noise, 0, fl.Invalid("epsilon", epsilon, "must leave noise that fits 32 bits, the clipped sum is up to %d", clip)
}

// SuccinctMSE is the squared error of the means estimated from one report of a client with
// sparsity keys, all with values +1 or −1, summed over the dim keys, with the clip
// and the noise of a round with the given number of reports. Divide by that number. It is
// exact but for the clipping, which happens with probability beta/2 in a round.
func SuccinctMSE(dim, sparsity, buckets, reports int, epsilon, beta float64) (float64, error) {
	fail := func(err error) (float64, error) { return 0, fmt.Errorf("succinct: mse: %w", err) }
	if err := sparse.CheckShape(dim, sparsity); err != nil {
		return fail(err)
	}
	if !(epsilon > 0 && epsilon <= fl.MaxEpsilon) {
		return fail(fl.Invalid("epsilon", epsilon, "must be in (0, %d]", fl.MaxEpsilon))
	}
	clip, err := leastClip(sparsity, buckets, reports, beta)
	if err != nil {
		return fail(err)
	}
	noise, _, err := newNoise(epsilon, clip)
	if err != nil {
		return fail(err)
	}
	s, share := float64(sparsity), newHash(0, 0, buckets).share()
	// E[(x·1{j in bucket}/share)²]: the client's other keys are in the bucket
	// with probability share, the key itself surely.
	in := (1+(s-1)*share+noise.Variance())/share - 1
	out := s + noise.Variance()/share
	return s*in + float64(dim-sparsity)*out, nil
}
