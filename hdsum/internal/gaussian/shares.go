package gaussian

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/rotation"
)

// Registered names.
const (
	SharesName = "gaussian-shares" // two servers add the noise
	SiteName   = "gaussian-site"   // each client adds it
)

// maxPadded is the largest d'.
const maxPadded = 1 << 24

func init() {
	fl.Register(SharesName, factory(func(r fl.Round) (fl.Mechanism, error) {
		if r.Params.Has(ParamProof) {
			return newProved(r)
		}
		return newMechanism(r)
	}))
	fl.Register(SiteName, factory(func(r fl.Round) (fl.Mechanism, error) { return newSite(r) }))
}

type factory func(fl.Round) (fl.Mechanism, error)

// Open implements fl.Factory.
func (f factory) Open(r fl.Round) (fl.Mechanism, error) {
	m, err := f(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Mechanism, err)
	}
	return m, nil
}

// vectors is what all mechanisms of this package have: integers for gradients, and the noise that hides one of them.
type vectors struct {
	round    *count.Round
	records  int64 // the most of all clients, or 0 where reports are about clients
	integers *integers
	noise    noise
	added    *added // nil where clients add none
}

// newVectors returns the vectors of a round, on a grid. params are parameters that the
// round may have beside fl.ParamRecords.
func newVectors(r fl.Round, g grid, params ...string) (v *vectors, err error) {
	if err := checkRound(r); err != nil {
		return nil, err
	}
	v = &vectors{}
	if v.records, err = readRecords(r.Params, params...); err != nil {
		return nil, err
	}
	if v.round, err = count.NewRound(r); err != nil {
		return nil, err
	}
	for {
		if v.integers, err = newIntegers(r, g); err != nil {
			return nil, err
		}
		if v.noise, err = newNoise(r, v.padded(), v.integers.sensitivity(r.Relation)); err != nil {
			return nil, err
		}
		if v.added, err = newAdded(r, v.integers, v.noise); err != nil || v.added == nil || v.added.smooth(v.noise) {
			return v, err
		}
		g.fineness *= 2 // more units, until a client's noise has enough of them
	}
}

// padded is d', the number of rotated coordinates.
func (v *vectors) padded() int { return v.integers.rotation.PaddedDim() }

// multiplier is the noise multiplier of a guarantee, for a standard deviation in units.
func (v *vectors) multiplier(sigma float64) float64 {
	return sigma / v.integers.sensitivity(v.round.Relation) * (1 - 0x1p-48)
}

// reports is the most reports that are decoded. A round may get more than its target when it closes with batches
// in flight.
func (v *vectors) reports() int64 {
	return 2*int64(max(v.round.MinReports, v.round.TargetReports)) + 1024
}

// capacity is the number of vectors that the ring has room for.
func (v *vectors) capacity() int64 {
	if v.records > 0 {
		return v.records
	}
	return v.reports()
}

// ring returns the smallest ring that has room for the sum of all vectors and of a number of noises, but for one in 2^41 rounds.
func (v *vectors) ring(noises int64) (ring, error) {
	return newRing(v.padded(), v.largest(v.capacity(), noises))
}

// largest bounds the absolute value of every coordinate of the sum of a number of honest vectors and of noises, with the noise of all
// clients, except with probability 2^−40.
func (v *vectors) largest(vectors, noises int64) float64 {
	dim := v.padded()
	each := rotation.Bound(v.integers.units/math.Sqrt(float64(dim)), dim, int(vectors), 0x1p-40)
	_, own, _ := v.added.of(v.reports())
	return float64(vectors)*(math.Ceil(each)+1) + math.Ceil(12*math.Sqrt(float64(noises))*v.noise.sigma) + float64(noises) + own
}

// standardError is the standard error of a coordinate of the mean of n vectors in a number of reports, with noises: each noise was
// rounded down, and every vector's rounding has a variance of at most 1/4.
func (v *vectors) standardError(n, reports, noises int64) float64 {
	own, _, _ := v.added.of(reports)
	return v.integers.deviation(float64(noises)*v.noise.variance()+own+float64(n)/4) / float64(n)
}

// estimate decodes the sum of n vectors, of records where the round is about them, and of noises.
func (v *vectors) estimate(s sum, reports, records, noises int64, g fl.Guarantee) (*fl.Estimate, error) {
	if err := v.round.CheckReports(reports); err != nil {
		return nil, err
	}
	if most := v.reports(); reports > most {
		return nil, fl.Invalid("reports", reports, "must be at most %d", most)
	}
	n := reports
	if v.records > 0 {
		n = records
	}
	if most := v.capacity(); n > most {
		return nil, fl.Invalid(fl.ParamRecords, n, "must be at most %d", most)
	}
	_, _, down := v.added.of(reports)
	down += float64(noises) / 2 // each was rounded down, by ½ on average
	values := s.values()
	for i := range values {
		values[i] += down
	}
	value, err := v.integers.back(values)
	if err != nil {
		return nil, err
	}
	stdErr := v.standardError(n, reports, noises)
	mean := fl.Series{Value: value, StdErr: make([]float64, len(value))}
	for i := range value {
		mean.Value[i] /= float64(n)
		mean.StdErr[i] = stdErr
	}
	e := fl.NewEstimate(v.round.Round, g, reports, mean)
	e.Records = records
	return e, nil
}

func checkRound(r fl.Round) error {
	switch {
	case math.IsInf(r.Epsilon, 1):
		return fl.Invalid("epsilon", r.Epsilon, "must be finite: this mechanism is private")
	case !(r.Delta > 0):
		return fl.Invalid("delta", r.Delta, "must be > 0: this mechanism is (ε, δ)-DP")
	case r.Dim > maxPadded:
		return fl.Invalid("dim", r.Dim, "must be at most %d", maxPadded)
	case r.Scale < 0x1p-900 || r.Scale > 0x1p+900:
		return fl.Invalid("scale", r.Scale, "must be in [2^-900, 2^900]")
	}
	return nil
}
