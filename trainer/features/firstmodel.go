package features

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// HeadClassifier is a Classifier whose class is the largest of linear functions of the vector. *Network is
// one.
type HeadClassifier interface {
	Classifier
	// Head returns the functions: Dim rows of Classes weights, and as many biases. They are the
	// classifier's own and not to be changed.
	Head() (weights, bias []float64)
}

// Head is what the network was trained with: see HeadClassifier.
func (n *Network) Head() (weights, bias []float64) { return n.parts.Head, n.parts.HeadBias }

// FirstModel returns parameters of softmax regression on f that know what f's public network knows: Dim rows
// of weights, one for each class, and the biases. Start a private run from a multiple of them: see
// plan.WarmStart. known is false where neither f nor the backbone of a *Pipeline is a HeadClassifier.
//
// A Pipeline may give all vectors one norm. The functions then take a vector to have the
// mean norm that vectors have before that, over the examples, which must be public. A Pipeline must have no logarithms and no
// scales, otherwise known is false. Errors are All's. O(Dim · backbone's Dim · classes) beside All.
func FirstModel(ctx context.Context, f Features, examples [][]float64, p Progress) (params []float64, known bool, err error) {
	pipeline, ok := f.(*Pipeline)
	if !ok {
		c, known := f.(HeadClassifier)
		if !known {
			return nil, false, nil
		}
		weights, bias := c.Head()
		return append(append(params, weights...), bias...), true, nil
	}
	c, known := pipeline.backbone.(HeadClassifier)
	if !known || pipeline.logs != nil || pipeline.scaled || pipeline.project.Rows == 0 {
		return nil, false, nil
	}
	length, err := pipeline.meanLength(ctx, examples, p)
	if err != nil {
		return nil, true, err
	}
	head, bias := c.Head()
	classes := c.Classes()
	weights := blas64.General{Rows: c.Dim(), Cols: classes, Stride: classes, Data: head}
	params = make([]float64, (pipeline.Dim()+1)*classes)
	own := blas64.General{Rows: pipeline.Dim(), Cols: classes, Stride: classes, Data: params}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, length, pipeline.project, weights, 0, own)
	last := params[pipeline.Dim()*classes:]
	copy(last, bias)
	for j, m := range pipeline.mean {
		floats.AddScaled(last, m, head[j*classes:(j+1)*classes])
	}
	return params, true, nil
}

// meanLength returns the mean norm of examples before all get one norm, in units of that one, and 1 where they
// get none.
func (p *Pipeline) meanLength(ctx context.Context, examples [][]float64, progress Progress) (float64, error) {
	if p.bias == 0 || len(examples) == 0 {
		return 1, nil
	}
	vectors, err := All(ctx, p.backbone, examples, progress)
	if err != nil {
		return 0, err
	}
	var sum float64
	along, dim := make([]float64, p.project.Rows), p.backbone.Dim()
	for i := range examples {
		p.along(along, vectors[i*dim:(i+1)*dim])
		floats.Sub(along, p.offset)
		sum += floats.Norm(along, 2)
	}
	return p.bias * sum / float64(len(examples)), nil
}

var _ HeadClassifier = (*Network)(nil)
