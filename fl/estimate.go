package fl

import (
	"math"
	"slices"
)

// Names of the columns that an estimate may have.
const (
	// ColumnMean is the mean of the clients' (clipped) gradients, in units of the
	// gradient. Every estimate has it.
	ColumnMean = "mean"
	// ColumnFrequency is the share of clients whose vector is non-zero at a coordinate:
	// for key-value pairs the share of clients that hold the key. In [0, 1] up to noise.
	ColumnFrequency = "frequency"
	// ColumnConditional is the mean over the clients whose vector is non-zero there, in
	// units of the gradient. It is clipped to ±Round.Scale and biased towards 0 where few
	// clients are. It has no standard error.
	ColumnConditional = "conditional"
	// ColumnPlus and ColumnMinus are the shares of clients with +1 and with −1 in their
	// ternary vectors.
	ColumnPlus, ColumnMinus = "plus", "minus"
)

// Series is one estimated number per coordinate, with its standard error.
type Series struct {
	Value  []float64 // length Round.Dim
	StdErr []float64 // length Round.Dim, or nil where none is known
}

// Column is a Series with a name.
type Column struct {
	Name string
	Series
}

// Estimate is the result of a closed round. The mean is unbiased for the mean of the
// clients' clipped gradients. Standard errors cover the privacy noise and the sampling of
// coordinates.
type Estimate struct {
	// Columns holds the mean first, and then what Round.Columns asks for, in its order.
	Columns []Column
	// NoiseNorm is the Euclidean norm of the mean's error: the root of its expected square,
	// estimated, in units of the gradient. It is the error that the standard errors measure.
	// Take NoiseNorm for the mean as a whole: in small rounds the standard errors of single
	// coordinates are widened, so that their intervals cover, and together say too much. NaN
	// where the mean has no standard errors.
	NoiseNorm float64
	// Reports is the number of reports behind it.
	Reports int64
	// Records is the number of records behind it in a round whose reports are sums of records, see RecordMechanism. The
	// mean is over them. 0 in every other round.
	Records int64
	// Suspects are the coordinates, in ascending order, at which more reports agree than honest clients send: some clients lie
	// there. If all clients are honest there is one with a probability of at most SuspectRate in a round, whatever they hold. A
	// few liars, or liars who spread their reports, are not seen. Mechanisms other than CoCo, Collision and SignSketch have no such test.
	Suspects []int
	// Mechanism is the registered name.
	Mechanism string
	// Guarantee is what each report promised its sender. With tiers it is the weakest of
	// their promises.
	Guarantee Guarantee
	// Tiers says how the tiers of a TieredMechanism were combined; nil without.
	Tiers []TierEstimate
}

// SuspectRate bounds the probability of a false alarm in a round, see Estimate.Suspects. With tiers it bounds a tier's.
const SuspectRate = 1e-6

// Mean returns the mean, which every estimate has.
func (e *Estimate) Mean() Series {
	s, _ := e.Column(ColumnMean)
	return s
}

// Column returns the column of a name. ok is false when the round did not ask for it.
func (e *Estimate) Column(name string) (s Series, ok bool) {
	for _, c := range e.Columns {
		if c.Name == name {
			return c.Series, true
		}
	}
	return Series{}, false
}

// NewEstimate returns an estimate of r with the mean alone, whose NoiseNorm is the norm of
// its standard errors. Mechanisms that estimate more append the columns that r asks for.
func NewEstimate(r Round, g Guarantee, reports int64, mean Series) *Estimate {
	return &Estimate{Columns: []Column{{ColumnMean, mean}}, NoiseNorm: norm(mean.StdErr), Reports: reports, Mechanism: r.Mechanism, Guarantee: g}
}

// norm returns the Euclidean norm of standard errors, whose squares may overflow, and NaN where
// there are none.
func norm(stdErr []float64) float64 {
	if len(stdErr) == 0 {
		return math.NaN()
	}
	largest, squares := slices.Max(stdErr), 0.0
	if largest == 0 {
		return 0
	}
	for _, v := range stdErr {
		squares += v / largest * (v / largest)
	}
	return largest * math.Sqrt(squares)
}
