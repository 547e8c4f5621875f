// Package count has the part of an fl.Aggregator that all mechanisms share: limits, merging, and
// snapshots, which are an aggregator's state in bytes. Use it to write a mechanism of your own.
// Implement the interface [State], and wrap it with [New].
//
// An implementation of State says how one report is read and counted, how two states add up, and
// which bytes they become. The [Aggregator] that New returns is an fl.Aggregator. It keeps these
// rules for every mechanism:
//
//   - A report or a batch is read completely before anything is counted.
//   - At most fl.MaxReports are counted, so that a State knows how many bits its sums need.
//   - Only aggregators of the same Round are merged.
//   - Nothing is estimated from fewer reports than the round's MinReports.
//   - A snapshot is read into an empty State. If all of the snapshot is good, the new State replaces the old one.
//
// An aggregator that is made of other aggregators, such as package tiers' own, has no
// State. It uses this package's [Round] and [Payload] directly.
package count

import "github.com/hushgrad/hushgrad/fl"

// State is what a mechanism keeps of its reports, beside their number. R is a report that was
// read. S is the State itself.
type State[R, S any] interface {
	// Read reads a report and changes nothing. It returns an error of BadReport for bytes
	// that are not a report of the round. What it returns may share the report's memory.
	Read(report []byte) (R, error)
	// Count counts a report that Read returned.
	Count(report R)
	// Merge adds what other counted. It is a State of the same round.
	Merge(other S)
	// Estimate decodes the given number of reports, which is at least Round.MinReports.
	Estimate(reports int64) (*fl.Estimate, error)

	// Append appends the payload of a snapshot.
	Append(payload []byte, reports int64) []byte
	// MaxBytes bounds the length of a payload.
	MaxBytes() int
	// Restore reads a payload into an empty State and returns the number of reports.
	Restore(p *Payload) (reports int64)
}

// Aggregator implements fl.Aggregator and fl.BatchAdder by a State.
type Aggregator[R any, S State[R, S]] struct {
	round   *Round
	empty   func() S
	state   S
	reports int64
}

// New returns an aggregator without reports. empty returns an empty State.
func New[R any, S State[R, S]](r *Round, empty func() S) *Aggregator[R, S] {
	return &Aggregator[R, S]{round: r, empty: empty, state: empty()}
}

// State returns what was counted, which must not be changed.
func (a *Aggregator[R, S]) State() S { return a.state }

// Add implements fl.Aggregator.
func (a *Aggregator[R, S]) Add(report []byte) error {
	r, err := a.state.Read(report)
	if err == nil {
		err = a.round.CheckRoom(a.reports, 1)
	}
	if err != nil {
		return a.round.Wrap("add", err)
	}
	a.state.Count(r)
	a.reports++
	return nil
}

// AddBatch implements fl.BatchAdder.
func (a *Aggregator[R, S]) AddBatch(reports [][]byte) error {
	batch := make([]R, len(reports))
	for i, report := range reports {
		var err error
		if batch[i], err = a.state.Read(report); err != nil {
			return &fl.BatchError{Index: i, Err: a.round.Wrap("add", err)}
		}
	}
	if err := a.round.CheckRoom(a.reports, int64(len(batch))); err != nil {
		return a.round.Wrap("add", err)
	}
	for _, r := range batch {
		a.state.Count(r)
	}
	a.reports += int64(len(batch))
	return nil
}

// AddState adds a State of the same round that has counted the given number of reports.
func (a *Aggregator[R, S]) AddState(s S, reports int64) error {
	if err := a.round.CheckRoom(a.reports, reports); err != nil {
		return a.round.Wrap("merge", err)
	}
	a.state.Merge(s)
	a.reports += reports
	return nil
}

// Merge implements fl.Aggregator.
func (a *Aggregator[R, S]) Merge(other fl.Aggregator) error {
	var round *Round
	o, ok := other.(*Aggregator[R, S])
	if ok {
		round = o.round
	}
	if err := a.round.CheckSame(round); err != nil {
		return a.round.Wrap("merge", err)
	}
	return a.AddState(o.state, o.reports)
}

// Estimate implements fl.Aggregator.
func (a *Aggregator[R, S]) Estimate() (*fl.Estimate, error) {
	if err := a.round.CheckReports(a.reports); err != nil {
		return nil, a.round.Wrap("estimate", err)
	}
	e, err := a.state.Estimate(a.reports)
	if err != nil {
		return nil, a.round.Wrap("estimate", err)
	}
	return e, nil
}

// MarshalBinary implements fl.Aggregator.
func (a *Aggregator[R, S]) MarshalBinary() ([]byte, error) {
	return a.round.Snapshot(a.state.Append(nil, a.reports))
}

// UnmarshalBinary implements fl.Aggregator. On an error the aggregator stays as it was.
func (a *Aggregator[R, S]) UnmarshalBinary(data []byte) error {
	p, err := a.round.Payload(data, a.state.MaxBytes())
	if err != nil {
		return err
	}
	restored := a.empty()
	reports := restored.Restore(p)
	if err := a.round.Finish(p); err != nil {
		return err
	}
	a.state, a.reports = restored, reports
	return nil
}
