// Package quantize turns gradients of bounded L2 norm into vectors of small integers and
// back. Use it in a sum over gradients whose protocol adds integers. Start with [New].
//
// A gradient is clipped, rotated at random, cut to a range and rounded without bias. All of
// that happens before the randomizer: privacy needs only that every integer is within the
// levels, which holds for every input.
package quantize

import (
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/clip"
	"github.com/hushgrad/hushgrad/rotation"
)

// Config describes a Quantizer.
type Config struct {
	// Dim is the number of coordinates of a gradient, in [1, fl.MaxDim].
	Dim int
	// Key is the public randomness of the rotation.
	Key [32]byte
	// ClipNorm is C > 0: longer gradients are scaled down to that L2 norm.
	ClipNorm float64
	// Range bounds a rotated coordinate, in units of C/√d', in [0.1, 1000].
	Range float64
	// Levels is the integer that stands for Range, in [1, 2^20].
	Levels int64
}

// Quantizer is immutable and safe for concurrent use.
type Quantizer struct {
	rotation *rotation.Rotation
	clip     float64
	unit     float64
	levels   int64
}

// New returns the quantizer that c describes. The error is a *fl.ParamError.
func New(c Config) (*Quantizer, error) {
	switch {
	case !(c.ClipNorm > 0) || math.IsInf(c.ClipNorm, 1):
		return nil, fl.Invalid("clip_norm", c.ClipNorm, "must be finite and > 0")
	case !(c.Range >= 0.1 && c.Range <= 1000):
		return nil, fl.Invalid("range", c.Range, "must be in [0.1, 1000]")
	case c.Levels < 1 || c.Levels > 1<<20:
		return nil, fl.Invalid("levels", c.Levels, "must be in [1, 2^20]")
	}
	r, err := rotation.New(c.Dim, c.Key)
	if err != nil {
		return nil, err
	}
	unit := c.Range * c.ClipNorm / float64(c.Levels) // unnormalised: √d' times C·Range/√d'
	if math.IsInf(unit, 1) || math.IsInf(1/unit, 1) {
		return nil, fl.Invalid("clip_norm", c.ClipNorm, "times range = %g over levels = %d must be a finite float64 with a finite inverse", c.Range, c.Levels)
	}
	return &Quantizer{rotation: r, clip: c.ClipNorm, unit: unit, levels: c.Levels}, nil
}

// Rotation returns the rotation. Its PaddedDim, d', is the length of quantized vectors.
func (q *Quantizer) Rotation() *rotation.Rotation { return q.rotation }

// Levels returns the largest absolute value of a quantized coordinate.
func (q *Quantizer) Levels() int64 { return q.levels }

// Unit returns the worth of one level of an unnormalised rotated coordinate.
func (q *Quantizer) Unit() float64 { return q.unit }

// LevelNorm returns an upper bound on the root mean square of the quantized coordinates
// before they are rounded, in levels.
func (q *Quantizer) LevelNorm() float64 { return q.clip / q.unit }

// Quantize returns the d' integers of a gradient of Dim finite numbers, in ±Levels. The error
// is a *fl.ParamError, wrapped or not. O(d' log d').
func (q *Quantizer) Quantize(grad []float64, rng *rand.Rand) ([]int64, error) {
	y := make([]float64, q.rotation.PaddedDim())
	measured, err := clip.Measure(grad, q.rotation.Dim(), 2, q.clip)
	if err == nil {
		err = q.rotation.Forward(y, measured.Short)
	}
	if err != nil {
		return nil, err
	}
	scale := 1 / q.unit * measured.Factor(q.clip)
	levels := make([]int64, len(y))
	for i, v := range y {
		levels[i] = q.round(v*scale, rng)
	}
	return levels, nil
}

// round clips a coordinate in units of levels and rounds it to one of the two
// nearest integers, without bias.
func (q *Quantizer) round(v float64, rng *rand.Rand) int64 {
	limit := float64(q.levels)
	v = min(max(v, -limit), limit)
	floor := math.Floor(v)
	if rng.Float64() < v-floor {
		floor++
	}
	return int64(floor)
}

// Dequantize turns the sum of quantized vectors, d' numbers, into the sum of the gradients.
// variance is the variance of each of the numbers. The second result is the standard error of each
// coordinate. O(d' log d').
func (q *Quantizer) Dequantize(sum []float64, variance float64) (grad []float64, stdErr float64, err error) {
	grad = make([]float64, q.rotation.Dim())
	if err := q.rotation.Inverse(grad, sum); err != nil {
		return nil, 0, err
	}
	for i := range grad {
		grad[i] *= q.unit
	}
	return grad, q.StandardError(variance), nil
}

// StandardError is the standard error of a coordinate of a gradient whose numbers all have the given variance.
func (q *Quantizer) StandardError(variance float64) float64 {
	return q.unit * math.Sqrt(variance/float64(q.rotation.PaddedDim()))
}
