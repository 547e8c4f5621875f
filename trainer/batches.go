package trainer

import (
	"fmt"
	"slices"
)

// load validates the arguments of one call and copies the parameters in.
func (m *machine) load(params []float64, x [][]float64, labels []int) error {
	if m.vm == nil {
		return errClosed
	}
	if err := checkVector("params", params, m.net.dim); err != nil {
		return err
	}
	if len(labels) == 0 || len(x) != len(labels) {
		return fmt.Errorf("trainer: labels: got %d for %d examples, must be one per example and at least 1", len(labels), len(x))
	}
	for i, e := range x {
		if len(e) != m.net.input.Size() || slices.ContainsFunc(e, outOfRange) {
			return checkVector(fmt.Sprintf("x[%d]", i), e, m.net.input.Size())
		}
		if labels[i] < 0 || labels[i] >= m.net.classes {
			return fmt.Errorf("trainer: labels[%d]: got %d, must be in [0, %d)", i, labels[i], m.net.classes)
		}
	}
	copy(m.params, params)
	return nil
}

// forEachBatch runs the graph over the loaded examples, at most m.batch at a
// time, and calls visit after each run with the log-probabilities of its
// examples, len(labels) × classes, and their labels. The seeds of the
// examples of a run are -weight at the label, which makes the gradient of the
// graph that of weight times the sum of their losses; unused places are seeded
// with zero.
func (m *machine) forEachBatch(x [][]float64, labels []int, weight float64, visit func(logp []float64, labels []int) error) error {
	size, classes := m.net.input.Size(), m.net.classes
	for len(labels) > 0 {
		n := min(m.batch, len(labels))
		for i := range n {
			copy(m.x[i*size:], x[i])
		}
		if m.seed != nil {
			clear(m.seed)
			for i := range n {
				m.seed[i*classes+labels[i]] = -weight
			}
		}
		if err := m.run(); err != nil {
			return err
		}
		logp, err := data(m.logp, m.batch*classes)
		if err != nil {
			return err
		}
		if err := visit(logp[:n*classes], labels[:n]); err != nil {
			return err
		}
		x, labels = x[n:], labels[n:]
	}
	return nil
}
