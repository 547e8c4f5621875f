// Package keyvalue has the mechanisms over key-value pairs: words, pages, coordinates of a sparse
// gradient. Use it where a client holds few of many keys. Import the package for its effect and start
// with a round of [PCKVUE].
//
// A client holds some of many keys, each with a value in [−1, 1]: a sparse gradient. Every
// mechanism estimates the mean over all clients. It also estimates the columns of
// [Columns]: the share of clients that hold a key, and the mean of their values.
//
// # Mechanisms
//
//	pckv-ue    PCKVUE    most accurate where clients hold few of many keys
//	pckv-agrr  PCKVAGRR  most accurate elsewhere; short reports
//	pckv-grr   PCKVGRR   pckv-agrr without the privacy that padding adds
//
// The comment of the names says how they work, what they promise and what they cost. Rivals of the
// papers are the laboratory's: bench/keyvalues/rivals has PrivKV, PrivKVM, KVUE and SUCCINCT.
//
// # Projections
//
// Frequencies of clients that all hold s keys are non-negative and sum to s. The means of such
// clients have an L1 norm of at most s. Both sets are convex, so the Euclidean projection
// onto them ([Simplex], [L1Ball]) never moves an estimate away from the truth. It
// spends no privacy budget. The result is biased.
package keyvalue

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// Encode is the Encode of a mechanism over key-value pairs in round r: it encodes the non-zero
// coordinates of a gradient, with values in units of the round's scale and clipped to [−1, 1]. It
// returns a *fl.ParamError when grad has not r.Dim coordinates or one of them is NaN or
// infinite, and the errors of m. O(dim), and the cost of m.
func Encode(m fl.KeyValueMechanism, r fl.Round, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	p, err := pairs(grad, r.Dim, r.Scale)
	if err != nil {
		return dst, fmt.Errorf("%s: encode: %w", r.Mechanism, err)
	}
	return m.EncodeKeyValues(dst, p, rng)
}

func pairs(grad []float64, dim int, scale float64) ([]fl.KeyValue, error) {
	if len(grad) != dim {
		return nil, fl.Invalid("gradient", len(grad), "must have dim = %d coordinates", dim)
	}
	var held []fl.KeyValue
	for j, g := range grad {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return nil, fl.Invalid("gradient", g, "must be finite, coordinate %d is not", j)
		}
		if g != 0 {
			held = append(held, fl.KeyValue{Key: uint32(j), Value: min(max(g/scale, -1), 1)})
		}
	}
	return held, nil
}

// Columns returns what mechanisms over key-value pairs estimate beside the mean:
// fl.ColumnFrequency and fl.ColumnConditional.
func Columns() []string { return []string{fl.ColumnFrequency, fl.ColumnConditional} }

// Estimate returns the estimate of a round: the mean, and of frequency and conditional
// what the round asks for.
func Estimate(r fl.Round, g fl.Guarantee, reports int64, mean, frequency, conditional fl.Series) *fl.Estimate {
	e := fl.NewEstimate(r, g, reports, mean)
	for _, name := range r.Columns {
		c := fl.Column{Name: name, Series: frequency}
		if name == fl.ColumnConditional {
			c.Series = conditional
		}
		e.Columns = append(e.Columns, c)
	}
	return e
}
