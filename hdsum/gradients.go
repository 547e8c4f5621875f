package hdsum

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/clip"
	"github.com/hushgrad/hushgrad/rotation"
)

// GradientConfig describes a GradientSum.
type GradientConfig struct {
	Config
	// Dim, Composition and Key are as in HighDimConfig.
	Dim         int
	Composition Composition
	Key         [32]byte
	// ClipNorm is C > 0: longer gradients are scaled down to that L2 norm.
	ClipNorm float64
	// Range bounds a rotated coordinate, in units of C/√d', its root mean square in
	// a gradient of norm C. What lies beyond is clipped: 2 clips one coordinate in
	// twenty of such a gradient and shortens the mean by about 5 %; noise grows in
	// proportion to Range.
	Range float64
	// Levels is the integer that stands for Range, at least 1. Coordinates are
	// rounded to integers at random, without bias. More levels have less rounding
	// error, more instances and, with the noise of every sub-domain, more noise.
	Levels int64
	// Threshold keeps only the sub-domains that stand out of the noise, as in
	// SumDP, with Beta in (0, 1). Otherwise all count and the sum is unbiased.
	Threshold bool
	Beta      float64
}

// GradientSum sums real vectors of bounded L2 norm: clip, rotate, round at random,
// and a SumDP for each sign of each rotated coordinate. It is immutable and safe
// for concurrent use.
type GradientSum struct {
	*coordinates
	rotation  *rotation.Rotation
	clip      float64
	unit      float64 // one level of an unnormalised rotated coordinate
	levels    int64
	threshold bool
}

// NewGradientSum returns the sum that c describes.
func NewGradientSum(c GradientConfig) (*GradientSum, error) {
	g, err := newGradientSum(c)
	if err != nil {
		return nil, fmt.Errorf("hdsum: GradientSum: %w", err)
	}
	return g, nil
}

func newGradientSum(c GradientConfig) (*GradientSum, error) {
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
	parts, err := newCoordinates(c.Config, c.Composition, r.PaddedDim(), c.Levels, c.Beta)
	if err != nil {
		return nil, err
	}
	unit := c.Range * c.ClipNorm / float64(c.Levels) // unnormalised: √d' times C·Range/√d'
	if math.IsInf(unit, 1) || math.IsInf(1/unit, 1) {
		return nil, fl.Invalid("clip_norm", c.ClipNorm, "times range = %g over levels = %d must be a finite float64 with a finite inverse", c.Range, c.Levels)
	}
	return &GradientSum{coordinates: parts, rotation: r, clip: c.ClipNorm, unit: unit, levels: c.Levels, threshold: c.Threshold}, nil
}

// Encode returns the messages of a gradient of Dim finite numbers. A nil rng means a
// fresh fl.NewRand. Expected time O(d' log d' + entries · log entries).
func (g *GradientSum) Encode(grad []float64, rng *rand.Rand) (Multiset, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	y := make([]float64, g.rotation.PaddedDim())
	measured, err := clip.Measure(grad, g.rotation.Dim(), 2, g.clip)
	if err == nil {
		err = g.rotation.Forward(y, measured.Short)
	}
	if err != nil {
		return nil, fmt.Errorf("hdsum: GradientSum: %w", err)
	}
	scale := 1 / g.unit * measured.Factor(g.clip)
	levels := make([]int64, len(y))
	for i, v := range y {
		levels[i] = g.round(v*scale, rng)
	}
	return g.encodeVector(levels, rng)
}

// ownMessages bounds the expected number of messages of one gradient that are not
// noise: its rotated coordinates have root mean square C/√d' = levels/Range levels
// at most, and a coordinate of v levels is rounded away from 0 with probability
// min(1, v). With BBGN inputs add none.
func (g *GradientSum) ownMessages() (messages float64) {
	each := g.groups[0].sum.payload(1) - g.groups[0].sum.payload(0)
	return float64(each) * float64(g.dim) * min(1, g.clip/g.unit)
}

// round clips a coordinate in units of levels and rounds it to one of the two
// nearest integers, without bias.
func (g *GradientSum) round(v float64, rng *rand.Rand) int64 {
	limit := float64(g.levels)
	v = min(max(v, -limit), limit)
	floor := math.Floor(v)
	if rng.Float64() < v-floor {
		floor++
	}
	return int64(floor)
}

// Analyze returns the estimate of the sum of all clipped gradients behind the
// given number of reports.
func (g *GradientSum) Analyze(sums *Sums, reports int64) (*VectorEstimate, error) {
	estimates, err := g.decode(sums)
	if err != nil {
		return nil, err
	}
	sum := g.combine(estimates, !g.threshold)
	// More reports than Clients bring noise in proportion, and every report's
	// rounding has a variance of at most 1/4 in units of levels.
	extra := max(1, float64(reports)/float64(g.clients()))
	for i := range sum.variances {
		sum.variances[i] = sum.variances[i]*extra + float64(reports)/4
	}
	return unrotate(g.rotation, sum, g.unit)
}
