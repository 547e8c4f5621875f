package plan

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// Sample is gradients of public examples at a model of zeros, or at another first model: what the clients'
// gradients are expected to be like. A plan chooses by them how to clip. Make one with NewSample. It is immutable.
type Sample struct {
	rows   [][]float64
	mean   []float64
	l1, l2 float64
	square float64 // of the mean of all gradients that rows are drawn from: ‖E g‖², without bias
}

// sampleValues is about how many values of a sample are looked at.
const sampleValues = 1 << 18

// SampleSize is the number of gradients with dim coordinates that NewSample looks at. More have no effect.
func SampleSize(dim int) int { return max(32, sampleValues/max(1, dim)) }

// NewSample takes gradients, each of the same length, which are kept and not copied. A few hundred are enough, and two
// the least. The error names gradients.
func NewSample(gradients [][]float64) (*Sample, error) {
	if len(gradients) < 2 {
		return nil, fmt.Errorf("plan: %w", fl.Invalid("gradients", len(gradients), "must be at least 2"))
	}
	dim := len(gradients[0])
	for i, g := range gradients {
		if len(g) != dim || dim == 0 {
			return nil, fmt.Errorf("plan: %w", fl.Invalid("gradients", len(g), "must all have one number of coordinates, above 0: gradient %d has another than the first", i))
		}
		if sum := floats.Norm(g, 1); math.IsNaN(sum) || math.IsInf(sum, 0) {
			return nil, fmt.Errorf("plan: %w", fl.Invalid("gradients", sum, "must be finite: gradient %d is not", i))
		}
	}
	s := &Sample{rows: gradients[:min(len(gradients), SampleSize(dim))]}
	for _, g := range s.rows {
		s.l1 += floats.Norm(g, 1) / float64(len(s.rows))
		s.l2 += floats.Norm(g, 2) / float64(len(s.rows))
	}
	var all kept
	all, s.mean = s.left(clipping{})
	s.square = all.square
	if !(s.l2 > 0) {
		return nil, fmt.Errorf("plan: %w", fl.Invalid("gradients", 0, "must not all be zero"))
	}
	return s, nil
}

// Norms are the mean L1 and L2 norms.
func (s *Sample) Norms() (l1, l2 float64) { return s.l1, s.l2 }

// kept is what clipping leaves of the mean gradient.
type kept struct {
	square float64 // squared norm of the mean of clipped gradients
	along  float64 // product of the mean of clipped gradients and the mean gradient
	length float64 // mean L2 norm of clipped gradients
	// ternary is the variance of a client's ternary vector around its clipped gradient, summed over the coordinates: an entry ±τ is drawn
	// with the probability |g|/τ. It is 0 where whole gradients are reported.
	ternary float64
}

// clipping is how a mechanism shortens gradients: each coordinate is cut at top, where there is one, and then all are multiplied
// by one factor until the gradient's norm of an order is at most norm. The zero value does nothing.
type clipping struct {
	top, norm float64
	order     float64 // 1 or 2; 0: no clipping
}

// wholeClip is for gradients of at most an L2 norm.
func wholeClip(norm float64) clipping { return clipping{norm: norm, order: 2} }

// ternaryClip is for sparse mechanisms: each coordinate at scale, and the L1 norm at scale·sparsity.
func ternaryClip(sparsity int, scale float64) clipping {
	return clipping{top: scale, norm: scale * float64(sparsity), order: 1}
}

func (c clipping) apply(row []float64) {
	if c.order == 0 {
		return
	}
	if c.top > 0 {
		for j, v := range row {
			if math.Abs(v) > c.top {
				row[j] = math.Copysign(c.top, v)
			}
		}
	}
	if f := c.factor(floats.Norm(row, c.order)); f < 1 {
		floats.Scale(f, row)
	}
}

// factor is what shortens a gradient whose coordinates are cut already.
func (c clipping) factor(length float64) float64 {
	if length <= c.norm || c.order == 0 {
		return 1
	}
	return c.norm / length
}

// left returns what a clip leaves of the mean gradient, and the mean of the clipped gradients. Products of means leave out the
// products of a row with itself: they have the expectation that means of endless rows have.
func (s *Sample) left(c clipping) (kept, []float64) {
	mean, cut := make([]float64, len(s.rows[0])), make([]float64, len(s.rows[0]))
	var own, beside, length, ternary float64
	for _, row := range s.rows {
		copy(cut, row)
		c.apply(cut)
		floats.Add(mean, cut)
		square := floats.Dot(cut, cut)
		own += square
		if c.top > 0 {
			ternary += max(0, c.top*floats.Norm(cut, 1)-square)
		}
		length += math.Sqrt(square)
		beside += floats.Dot(cut, row)
	}
	n := float64(len(s.rows))
	pairs := n * (n - 1)
	k := kept{square: (floats.Dot(mean, mean) - own) / pairs, length: length / n, ternary: ternary / n}
	if s.mean != nil {
		k.along = (n*floats.Dot(mean, s.mean) - beside) / pairs
	} else {
		k.along = k.square
	}
	floats.Scale(1/n, mean)
	return k, mean
}

// kept is left without the mean.
func (s *Sample) kept(c clipping) *kept {
	k, _ := s.left(c)
	return &k
}

// slope is the share of the mean gradient that clipping leaves, along the mean gradient. It is nil where no mean stands out of the
// sample.
func (s *Sample) slope(k kept) *float64 {
	if !(s.square > 0) {
		return nil
	}
	slope := k.along / s.square
	return &slope
}

// loss is the least squared distance between the mean gradient and a multiple of an estimate of the clipped mean, with noise of
// the given squared norm, as a share of the mean gradient's squared norm: from 0 to 1. A learning rate
// takes care of the multiple. What clipping turns away from the mean gradient is bias, and counts as noise does.
func (s *Sample) loss(k kept, noise float64) float64 {
	if !(s.square > 0 && k.along > 0) {
		return 1
	}
	return 1 - min(1, k.along*k.along/(s.square*(max(k.square, k.along*k.along/s.square)+noise)))
}

// ratio is the norm of the clipped mean over the noise's.
func (k kept) ratio(noise float64) float64 { return math.Sqrt(max(0, k.square) / noise) }
