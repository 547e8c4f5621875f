package trainer

import (
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"
)

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

// Evaluator measures a model on labelled examples with graphs of fixed batch
// size that have no backward half. It makes as many as there are processors and
// batches. It is not safe for concurrent use: make one per goroutine.
type Evaluator struct {
	machines []*machine
}

// Evaluate returns the fraction of the examples whose largest logit is their
// label's, in [0, 1], and their mean cross-entropy in nats. The first of
// several equal logits counts as the largest. Both are the same on any number
// of processors. Arguments and errors are Worker.Gradient's. O(⌈n/B⌉) runs of
// a graph.
func (e *Evaluator) Evaluate(params []float64, x [][]float64, labels []int) (accuracy, loss float64, err error) {
	first := e.machines[0]
	if err := first.load(params, x, labels); err != nil {
		return 0, 0, err
	}
	batch := first.batch
	batches := (len(x) + batch - 1) / batch
	for len(e.machines) < min(batches, runtime.GOMAXPROCS(0)) {
		m, err := newMachine(first.net, batch, byNothing)
		if err != nil {
			return 0, 0, err
		}
		e.machines = append(e.machines, m)
	}
	losses, correct := make([]float64, len(x)), make([]int, len(e.machines))
	var group errgroup.Group
	for k, m := range e.machines {
		from, to := batches*k/len(e.machines)*batch, min(len(x), batches*(k+1)/len(e.machines)*batch)
		copy(m.params, params)
		group.Go(func() error {
			at := from
			return m.forEachBatch(x[from:to], labels[from:to], 1, func(logp []float64, labels []int) error {
				for i, label := range labels {
					row := logp[i*m.net.classes : (i+1)*m.net.classes]
					losses[at] = -row[label]
					if floats.MaxIdx(row) == label {
						correct[k]++
					}
					at++
				}
				return nil
			})
		})
	}
	if err := group.Wait(); err != nil {
		return 0, 0, err
	}
	right := 0
	for _, n := range correct {
		right += n
	}
	return float64(right) / float64(len(x)), floats.Sum(losses) / float64(len(x)), nil
}

// Close frees the graphs. The evaluator cannot be used afterwards. Closing
// twice is allowed.
func (e *Evaluator) Close() (err error) {
	for _, m := range e.machines {
		err = errors.Join(err, m.close())
	}
	return err
}
