package fl

import (
	"encoding"
	"fmt"
)

// Aggregator sums reports. It is not safe for concurrent use: give every
// goroutine its own and Merge them.
type Aggregator interface {
	// Add counts one report. It returns an error wrapping ErrBadReport, and
	// changes nothing, when the bytes are not a report of this round. It neither
	// keeps nor changes the slice.
	Add(report []byte) error
	// Merge adds what other counted; other stays as it is. Both must come from
	// the same Round: an aggregator of another one is an error, which changes nothing.
	Merge(other Aggregator) error
	// Estimate decodes what was counted. It changes nothing and may be called again
	// later. Round.CheckReports returns the error of an aggregator with too few reports:
	// it wraps ErrNoReports before the first one, and ErrTooFewReports below
	// Round.MinReports. The round promises its clients that no estimate is released
	// then, with a server around the aggregator or without.
	Estimate() (*Estimate, error)
	// The binary form is a snapshot to store or to send to another machine. Equal
	// states have equal snapshots. UnmarshalBinary replaces the state of an aggregator
	// of the same Round; on an error the state is unchanged.
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// CheckReports returns nil when an estimate of the given number of reports may be
// released. Otherwise the error wraps ErrNoReports, or ErrTooFewReports and a *ParamError.
func (r Round) CheckReports(reports int64) error {
	switch {
	case reports == 0:
		return ErrNoReports
	case reports < int64(r.MinReports):
		return fmt.Errorf("%w: %w", ErrTooFewReports, Invalid("reports", reports, "must be at least min_reports, %d", r.MinReports))
	}
	return nil
}

// BatchAdder is implemented by aggregators that take many reports at once more
// cheaply than one by one, all of them or none.
type BatchAdder interface {
	// AddBatch counts all reports, or none and returns a *BatchError. It must not
	// panic halfway: what it had counted by then would stay.
	AddBatch(reports [][]byte) error
}

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
