// Package bigref computes with 320 bits what tests compare floating-point results with.
// Use it in tests only: it is slow, and it shares no code with what it checks.
// Start with [Of].
package bigref

import "math/big"

// Precision is the number of bits of every result.
const Precision = 320

// Of returns x, exactly.
func Of(x float64) *big.Float { return new(big.Float).SetPrec(Precision).SetFloat64(x) }

// Sub returns x − y.
func Sub(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(Precision).Sub(x, y) }

// Mul returns x·y.
func Mul(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(Precision).Mul(x, y) }

// Add returns x + y.
func Add(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(Precision).Add(x, y) }

// Quo returns x/y.
func Quo(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(Precision).Quo(x, y) }

// Exp returns e^x for 0 <= x <= 20 to about 300 bits: the Taylor series at
// x/2^10, squared ten times.
func Exp(x float64) *big.Float {
	y := Of(x)
	y.SetMantExp(y, -10)
	sum, term := Of(1), Of(1)
	for i := 1; i < 60; i++ {
		term = Quo(Mul(term, y), Of(float64(i)))
		sum = Add(sum, term)
	}
	for range 10 {
		sum = Mul(sum, sum)
	}
	return sum
}

// Binomial returns the binomial coefficient n over k.
func Binomial(n, k int) *big.Float {
	return new(big.Float).SetPrec(Precision).SetInt(new(big.Int).Binomial(int64(n), int64(k)))
}

// Powers returns x^0, ..., x^n.
func Powers(x *big.Float, n int) []*big.Float {
	p := []*big.Float{Of(1)}
	for range n {
		p = append(p, Mul(p[len(p)-1], x))
	}
	return p
}
