package rounded

import (
	"math/big"
	"sync"

	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/table"
)

const (
	precision = 192 // bits
	// twiceVariance is 2s², in binary logarithms.
	twiceVariance = 18
)

// tables are the tables of D' and of floor(N): magnitudes, to be drawn with a sign.
type tables struct{ points, cells *table.Table }

var shared = sync.OnceValues(func() (tables, error) {
	points := densities()
	cells := make([]*big.Float, len(points))
	for m, f := range points {
		cells[m] = integral(f, m)
	}
	p, err := table.New(units(points))
	if err != nil {
		return tables{}, err
	}
	c, err := table.New(units(cells))
	return tables{points: p, cells: c}, err
})

func number(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// densities returns exp(−(m+½)²/(2s²)) for m < table.Len.
func densities() []*big.Float {
	// All are powers of e^(−1/8s²), as (m+½)² = (2m+1)²/4 = 1/4 + 2·(1 + 2 + … + m).
	base := number(0).SetInt(exact.LowerExp(1 / float64(int(4)<<twiceVariance)))
	base.Quo(number(1).SetMantExp(number(1), expBits), base)
	step := number(1)
	for range 8 {
		step.Mul(step, base)
	}
	out := make([]*big.Float, table.Len)
	f, ratio := base, number(1)
	for m := range out {
		out[m] = number(0).Mul(f, ratio)
		f = out[m]
		ratio.Mul(ratio, step)
	}
	return out
}

// expBits is the number of fractional bits of exact.LowerExp.
const expBits = 160

// integral returns the integral of exp(−x²/(2s²)) over [m, m+1], f being the value in the
// middle: by Taylor's series there, f·Σ H_n(y)·2^−n/(s^n·(n+1)!) over even n for the
// Hermite polynomials H_n(y), y = (m+½)/s. Term n is below 2^(−6n)/(n+1)!.
func integral(f *big.Float, m int) *big.Float {
	const terms = 18
	slope := number(float64(2*m+1) / float64(int(2)<<twiceVariance)) // y/(2s)
	last, term := number(0), number(1)                               // H_n(y)/(2s)^n at n−1 and n
	sum, factorial := number(0), number(1)
	for n := range terms {
		factorial.Mul(factorial, number(float64(n+1)))
		if n%2 == 0 {
			sum.Add(sum, number(0).Quo(term, factorial))
		}
		back := number(0).Mul(last, number(float64(n)/float64(int(2)<<twiceVariance))) // n/(2s)²
		last, term = term, number(0).Sub(number(0).Mul(slope, term), back)
	}
	return sum.Mul(sum, f)
}

// units returns integers of sum 2^table.TotalBits in proportion to the weights, rounded
// down, but the first.
func units(weights []*big.Float) []*big.Int {
	sum := number(0)
	for _, w := range weights {
		sum.Add(sum, w)
	}
	rest := new(big.Int).Lsh(big.NewInt(1), table.TotalBits)
	unit := number(0).Quo(number(0).SetInt(rest), sum)
	out := make([]*big.Int, len(weights))
	for i, w := range weights {
		out[i], _ = number(0).Mul(w, unit).Int(nil)
		rest.Sub(rest, out[i])
	}
	out[0].Add(out[0], rest)
	return out
}
