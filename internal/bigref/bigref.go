// Package bigref bounds e^x by a rational number. Use it in tests only: it shares no code with what it checks. Start
// with [LowerExp].
package bigref

import (
	"math"
	"math/big"
)

// fraction is how many binary digits of a bound follow the point.
const fraction = 256

// LowerExp returns a rational lower bound of e^x, 0 ≤ x ≤ 20: the Taylor sum
// to degree 160, with every term rounded down to 256 binary digits after the point.
func LowerExp(x float64) *big.Rat {
	m, exponent := math.Frexp(x)
	mantissa, shift := big.NewInt(int64(m*(1<<53))), uint(53-exponent) // x = mantissa/2^shift
	one := new(big.Int).Lsh(big.NewInt(1), fraction)
	term, sum := new(big.Int).Set(one), new(big.Int).Set(one)
	for k := int64(1); k <= 160; k++ {
		term.Mul(term, mantissa).Rsh(term, shift).Quo(term, big.NewInt(k))
		sum.Add(sum, term)
	}
	return new(big.Rat).SetFrac(sum, one)
}
