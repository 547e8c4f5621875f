package keyvalue

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// BestPCKV returns the mechanism, PCKVUE or PCKVAGRR, with the smaller error for rare keys, in the
// frequencies and in the means (Section 5 of the paper): dim keys, padding length ℓ,
// epsilon in (0, 20].
func BestPCKV(dim, padding int, epsilon float64) (frequencies, means string, err error) {
	if err := checkPoint(epsilon, dim, padding); err != nil {
		return "", "", fmt.Errorf("pckv: %w", err)
	}
	d, l, e := float64(dim), float64(padding), math.Exp(epsilon)
	frequencies, means = PCKVAGRR, PCKVAGRR
	if 2*(d-1) > l*(4*l-1)*(e+1) {
		frequencies = PCKVUE
	}
	if 2*d > l*(4*l*(e+1)/(e+3)-1)*(e+1) {
		means = PCKVUE
	}
	return frequencies, means, nil
}

func checkPoint(epsilon float64, dim, padding int) error {
	switch {
	case !(epsilon > 0 && epsilon <= fl.MaxEpsilon):
		return fl.Invalid("epsilon", epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	case dim < 1 || dim > fl.MaxDim:
		return fl.Invalid("dim", dim, "must be in [1, %d]", fl.MaxDim)
	case padding < 1 || padding > fl.MaxDim:
		return fl.Invalid(ParamPadding, padding, "must be in [1, %d]", fl.MaxDim)
	}
	return nil
}
