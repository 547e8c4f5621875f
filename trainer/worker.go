package trainer

import "gonum.org/v1/gonum/floats"

// Worker computes gradients of one model on a graph of fixed batch size. It is
// not safe for concurrent use: make one per goroutine.
type Worker struct {
	m *machine
}

// Gradient writes into dst the gradient by the parameters of the mean
// cross-entropy of the given examples, and returns that mean (in nats).
//
// dst and params have length Dim of the model and may be the same slice. x
// holds n ≥ 1 examples of Input.Size numbers each, labels their classes in
// [0, classes). n is free: the examples are worked off in batches, and unused
// places in the last one carry weight zero, so the result is the mean over
// exactly the n examples whatever the batch size. When an argument is invalid
// the error names it and dst is unchanged.
//
// The derivative of the ReLU at 0 is taken as 1, and where values tie in a
// max-pooling one of them receives the derivative.
//
// O(⌈n/B⌉) runs of the graph.
func (w *Worker) Gradient(dst, params []float64, x [][]float64, labels []int) (loss float64, err error) {
	if len(dst) != w.m.net.dim {
		return 0, invalid("dst", len(dst), "must have %d elements", w.m.net.dim)
	}
	if err := w.m.load(params, x, labels); err != nil {
		return 0, err
	}
	weight := 1 / float64(len(labels))
	first := true
	err = w.m.forEachBatch(x, labels, weight, func(logp []float64, labels []int) error {
		for i, label := range labels {
			loss -= weight * logp[i*w.m.net.classes+label]
		}
		for i, p := range w.m.net.params {
			part, err := data(w.m.gradient[i], p.Size())
			if err != nil {
				return err
			}
			if to := dst[p.Offset : p.Offset+p.Size()]; first {
				copy(to, part)
			} else {
				floats.Add(to, part)
			}
		}
		first = false
		return nil
	})
	return loss, err
}

// Close frees the graph. The worker cannot be used afterwards. Closing twice
// is allowed.
func (w *Worker) Close() error { return w.m.close() }

// Evaluator measures a model on labelled examples with a graph of fixed batch
// size that has no backward half. It is not safe for concurrent use: make one
// per goroutine.
type Evaluator struct {
	m *machine
}

// Evaluate returns the fraction of the examples whose largest logit is their
// label's, in [0, 1], and their mean cross-entropy in nats. The first of
// several equal logits counts as the largest. Arguments and errors are
// Worker.Gradient's. O(⌈n/B⌉) runs of the graph.
func (e *Evaluator) Evaluate(params []float64, x [][]float64, labels []int) (accuracy, loss float64, err error) {
	if err := e.m.load(params, x, labels); err != nil {
		return 0, 0, err
	}
	weight, correct := 1/float64(len(labels)), 0
	err = e.m.forEachBatch(x, labels, weight, func(logp []float64, labels []int) error {
		for i, label := range labels {
			row := logp[i*e.m.net.classes : (i+1)*e.m.net.classes]
			loss -= weight * row[label]
			if floats.MaxIdx(row) == label {
				correct++
			}
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	return float64(correct) / float64(len(labels)), loss, nil
}

// Close frees the graph. The evaluator cannot be used afterwards. Closing
// twice is allowed.
func (e *Evaluator) Close() error { return e.m.close() }
