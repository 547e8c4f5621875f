package trainer

import "gonum.org/v1/gonum/floats"

// Evaluator measures a model on labelled examples with a graph of fixed batch
// size that has no backward half. It is not safe for concurrent use: make one
// per goroutine.
type Evaluator struct {
	m *machine
}

// Evaluate returns the fraction of the examples whose largest logit is that of
// their label, in [0, 1], and their mean cross-entropy in nats. The first of
// several equal logits counts as the largest. The arguments are those of
// Worker.Gradient, and so are the errors. O(⌈n/B⌉) runs of the graph.
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
