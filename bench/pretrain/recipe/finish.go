package recipe

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/internal/glyph"
	"github.com/hushgrad/hushgrad/trainer/features"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Finish returns the network of trained weights. Its mean and its principal components are computed
// from its vectors of new digits, as many as the last argument says. Its classes are the digits: their
// part of the last layer. The new digits are drawn with the fonts of the set, and no digit trained on is
// among them.
func Finish(set *Set, size Size, params []float64, digits int) (*features.Network, error) {
	bias := len(params) - len(Characters)
	head := bias - size.Width*len(Characters)
	parts := features.NetworkParts{
		Channels: size.Channels, Width: size.Width,
		Weights: params[:head], HeadBias: params[bias : bias+Digits], Mean: make([]float64, size.Width),
	}
	for j := range size.Width {
		parts.Head = append(parts.Head, params[head+j*len(Characters):][:Digits]...)
	}
	raw, err := features.NewNetwork(parts)
	if err != nil {
		return nil, err
	}
	vectors := mat.NewDense(digits, size.Width, nil)
	pencil, x, components := NewPencil(), make([]float64, glyph.Side*glyph.Side), set.with(forComponents)
	for i := range digits {
		pencil.DrawDigit(x, components, uint64(i))
		raw.Apply(vectors.RawRowView(i), x)
	}
	for j := range parts.Mean {
		parts.Mean[j] = stat.Mean(mat.Col(nil, j, vectors), nil)
	}
	if parts.Components, err = principal(vectors); err != nil {
		return nil, err
	}
	return features.NewNetwork(parts)
}

// restVariance is the share of the first component's variance below which there is none.
const restVariance = 1e-12

// principal returns the principal components of the rows, those along which they vary most
// first. The largest element of each is positive, which fixes its sign.
func principal(rows *mat.Dense) ([][]float64, error) {
	var pc stat.PC
	if !pc.PrincipalComponents(rows, nil) {
		return nil, fmt.Errorf("recipe: the singular values of %v vectors were not found", rows.RawMatrix().Rows)
	}
	var columns mat.Dense
	pc.VectorsTo(&columns)
	var out [][]float64
	variances := pc.VarsTo(nil)
	for _, variance := range variances {
		c := mat.Col(nil, len(out), &columns)
		if !(variance > restVariance*variances[0]) {
			break // units at rest vary in no direction but rounding's
		}
		if floats.Max(c) < math.Abs(floats.Min(c)) {
			floats.Scale(-1, c)
		}
		out = append(out, c)
	}
	return out, nil
}
