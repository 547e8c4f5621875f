package pckv

import "math"

// Best returns the mechanism, UE or AGRR, with the smaller error for rare keys, in the
// frequencies and in the means (Section 5 of the paper): dim keys, padding length ℓ,
// epsilon in (0, 20].
func Best(dim, padding int, epsilon float64) (frequencies, means string, err error) {
	if err := checkPoint(epsilon, dim, padding); err != nil {
		return "", "", err
	}
	d, l, e := float64(dim), float64(padding), math.Exp(epsilon)
	frequencies, means = AGRR, AGRR
	if 2*(d-1) > l*(4*l-1)*(e+1) {
		frequencies = UE
	}
	if 2*d > l*(4*l*(e+1)/(e+3)-1)*(e+1) {
		means = UE
	}
	return frequencies, means, nil
}
