package fl

import "fmt"

// BatchError says which report of a batch was refused, and why. Nothing of the
// batch was counted.
type BatchError struct {
	Index int   // position in the batch
	Err   error // wraps ErrBadReport
}

func (e *BatchError) Error() string { return fmt.Sprintf("reports[%d]: %v", e.Index, e.Err) }

// Unwrap returns the reason.
func (e *BatchError) Unwrap() error { return e.Err }

// AddBatch counts all reports into agg, or none and returns a *BatchError. It
// uses BatchAdder where agg has it, and otherwise a second aggregator of m, at
// the cost of one Merge.
func AddBatch(m Mechanism, agg Aggregator, reports [][]byte) error {
	if b, ok := agg.(BatchAdder); ok {
		return b.AddBatch(reports)
	}
	part := m.NewAggregator()
	for i, report := range reports {
		if err := part.Add(report); err != nil {
			return &BatchError{Index: i, Err: err}
		}
	}
	return agg.Merge(part)
}
