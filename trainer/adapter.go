package trainer

import G "gorgonia.org/gorgonia"

// NewAdapter returns a linear classifier that is frozen but for a change of low rank: for an
// example x the logits are x·(W + A·B) and biases, where W is frozen, and A and B are trained (Hu
// et al., LoRA: Low-Rank Adaptation of Large Language Models, 2021, arXiv:2106.09685, section
// 4.1). Use it to fit a layer that public data trained: it has rank·(in.Size() + classes)
// weights instead of in.Size()·classes. Layout:
//
//	down.weight (in.Size(), rank)
//	down.bias   (rank)
//	up.weight   (rank, classes)
//	up.bias     (classes)
//
// frozen are the parameters of NewSoftmax(in, classes): W and then the biases. They are copied.
// Init starts at the frozen layer: up is zero. The error names rank unless it is between 1 and
// the smaller of in.Size() and classes. O(B·in.Size()·(rank + classes)) per batch.
func NewAdapter(in Input, classes, rank int, frozen []float64) (*Model, error) {
	layer, err := NewSoftmax(in, classes)
	if err != nil {
		return nil, err
	}
	if err := checkVector("frozen", frozen, layer.dim); err != nil {
		return nil, err
	}
	if most := min(in.Size(), classes); rank < 1 || rank > most {
		return nil, invalid("rank", rank, "must be in [1, %d]", most)
	}
	m := &Model{input: in, classes: classes, width: layer.width}
	if err := m.addLayer("down", 1, in.Size(), rank); err != nil {
		return nil, err
	}
	if err := m.addLayer("up", 0, rank, classes); err != nil {
		return nil, err
	}
	weights := in.Size() * classes
	w, b := append([]float64(nil), frozen[:weights]...), append([]float64(nil), frozen[weights:]...)
	m.logits = func(l *layers, x *G.Node) *G.Node {
		return l.add(l.frozen(x, w, b), l.dense(l.dense(x)))
	}
	return m, nil
}

// frozen returns x·W + 1·b for weights and a bias that are not parameters.
func (l *layers) frozen(x *G.Node, w, b []float64) *G.Node {
	if l.err != nil {
		return nil
	}
	rows, columns := x.Shape()[0], x.Shape()[1]
	biases := make([]float64, 0, rows*len(b))
	for range rows {
		biases = append(biases, b...)
	}
	weights := inputNode(l.graph, "frozen.weight", w, columns, len(b))
	xw := l.apply(func() (*G.Node, error) { return G.Mul(x, weights) })
	return l.add(xw, inputNode(l.graph, "frozen.bias", biases, rows, len(b)))
}

func (l *layers) add(x, y *G.Node) *G.Node {
	return l.apply(func() (*G.Node, error) { return G.Add(x, y) })
}
