package privacy

import "math/big"

// bigPrecision is the number of bits of what tests compare floating-point results with. The functions of this file share no
// code with what they check.
const bigPrecision = 320

// bigOf returns x, exactly.
func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(bigPrecision).SetFloat64(x) }

// bigSub returns x − y.
func bigSub(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bigPrecision).Sub(x, y) }

// bigMul returns x·y.
func bigMul(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bigPrecision).Mul(x, y) }

// bigAdd returns x + y.
func bigAdd(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bigPrecision).Add(x, y) }

// bigQuo returns x/y.
func bigQuo(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bigPrecision).Quo(x, y) }

// bigExp returns e^x for 0 <= x <= 20 to about 300 bits: the Taylor series at
// x/2^10, squared ten times.
func bigExp(x float64) *big.Float {
	y := bigOf(x)
	y.SetMantExp(y, -10)
	sum, term := bigOf(1), bigOf(1)
	for i := 1; i < 60; i++ {
		term = bigQuo(bigMul(term, y), bigOf(float64(i)))
		sum = bigAdd(sum, term)
	}
	for range 10 {
		sum = bigMul(sum, sum)
	}
	return sum
}

// bigBinomial returns the binomial coefficient n over k.
func bigBinomial(n, k int) *big.Float {
	return new(big.Float).SetPrec(bigPrecision).SetInt(new(big.Int).Binomial(int64(n), int64(k)))
}

// bigPowers returns x^0, ..., x^n.
func bigPowers(x *big.Float, n int) []*big.Float {
	p := []*big.Float{bigOf(1)}
	for range n {
		p = append(p, bigMul(p[len(p)-1], x))
	}
	return p
}
