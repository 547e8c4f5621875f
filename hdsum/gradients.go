package hdsum

import (
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/internal/quantize"
	"github.com/hushgrad/hushgrad/internal/prefix"
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
	quantizer *quantize.Quantizer
	threshold bool
}

// NewGradientSum returns the sum that c describes.
func NewGradientSum(c GradientConfig) (_ *GradientSum, err error) {
	defer prefix.Error(&err, "hdsum: GradientSum")
	q, err := quantize.New(quantize.Config{Dim: c.Dim, Key: c.Key, ClipNorm: c.ClipNorm, Range: c.Range, Levels: c.Levels})
	if err != nil {
		return nil, err
	}
	parts, err := newCoordinates(c.Config, c.Composition, q.Rotation().PaddedDim(), c.Levels, c.Beta)
	if err != nil {
		return nil, err
	}
	return &GradientSum{coordinates: parts, quantizer: q, threshold: c.Threshold}, nil
}

// Encode returns the messages of a gradient of Dim finite numbers. A nil rng means a
// fresh fl.NewRand. Expected time O(d' log d' + entries · log entries).
func (g *GradientSum) Encode(grad []float64, rng *rand.Rand) (Multiset, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	levels, err := g.quantizer.Quantize(grad, rng)
	if err != nil {
		return nil, fmt.Errorf("hdsum: GradientSum: %w", err)
	}
	return g.encodeVector(levels, rng)
}

// ownMessages bounds the expected number of messages of one gradient that are not
// noise: its rotated coordinates have root mean square C/√d' = levels/Range levels
// at most, and a coordinate of v levels is rounded away from 0 with probability
// min(1, v). With BBGN inputs add none.
func (g *GradientSum) ownMessages() (messages float64) {
	each := g.groups[0].sum.payload(1) - g.groups[0].sum.payload(0)
	return float64(each) * float64(g.dim) * min(1, g.quantizer.LevelNorm())
}

// Analyze returns the estimate of the sum of all clipped gradients behind the
// given number of reports.
func (g *GradientSum) Analyze(sums *Sums, reports int64) (*VectorEstimate, error) {
	estimates, err := g.decode(sums)
	if err != nil {
		return nil, err
	}
	sum := g.combine(estimates, !g.threshold)
	for i, noise := range sum.variances {
		sum.variances[i] = g.variance(noise, reports)
	}
	return unrotate(g.quantizer.Rotation(), sum, g.quantizer.Unit())
}

// variance is the variance of a sum in units of levels, from the noise of Clients reports. More reports bring noise in
// proportion, and every report's rounding has a variance of at most 1/4.
func (g *GradientSum) variance(noise float64, reports int64) float64 {
	return noise*max(1, float64(reports)/float64(g.clients())) + float64(reports)/4
}

// standardError bounds the standard error of a coordinate of the sum of a number of reports, before any is decoded: all sub-domains count.
func (g *GradientSum) standardError(reports int64) float64 {
	noise := 0.
	for _, group := range g.groups {
		noise += 2 * group.sum.variance() // of both signs
	}
	return g.quantizer.StandardError(g.variance(noise, reports))
}
