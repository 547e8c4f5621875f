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
// from its vectors of n new pictures of the classes that stay. Its last layer is their part. No picture trained on is
// among the new ones.
func Finish(of Pictures, size Size, params []float64, n int) (*features.Network, error) {
	classes, kept := of.Classes()
	bias := len(params) - classes
	head := bias - size.Width*classes
	parts := features.NetworkParts{
		Channels: size.Channels, Width: size.Width,
		Weights: params[:head], HeadBias: params[bias : bias+kept], Mean: make([]float64, size.Width),
	}
	for j := range size.Width {
		parts.Head = append(parts.Head, params[head+j*classes:][:kept]...)
	}
	raw, err := features.NewNetwork(parts)
	if err != nil {
		return nil, err
	}
	vectors := mat.NewDense(n, size.Width, nil)
	draw, x := of.painter(true), make([]float64, glyph.Side*glyph.Side)
	for i := range n {
		draw(x, uint64(i))
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
