package pipeline

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// Combine is the CombineFn of rounds: it merges the accumulators of a round and estimates. Every
// key must have the accumulators of one round.
type Combine struct {
	Rounds Rounds

	known mechanisms
}

// Estimate is what a round estimated.
type Estimate struct {
	ID        string // of the round
	Reports   int64
	Seeded    int64 // of them, drawn from a seed
	Guarantee fl.Guarantee
	Suspects  []int // see fl.Estimate
	Columns   []Column
}

// Column is a fl.Column. StdErr is empty where there are none.
type Column struct {
	Name          string
	Value, StdErr []float64
}

// Setup builds the mechanisms of all rounds, once in a worker.
func (f *Combine) Setup() (err error) {
	f.known, err = f.Rounds.open()
	return err
}

// CreateAccumulator returns an accumulator without a round: the first one that is added says it.
func (f *Combine) CreateAccumulator() Accumulator { return Accumulator{} }

// AddInput adds what was counted in one place.
func (f *Combine) AddInput(a, b Accumulator) (Accumulator, error) { return f.known.merge(a, b) }

// MergeAccumulators adds b to a.
func (f *Combine) MergeAccumulators(a, b Accumulator) (Accumulator, error) {
	return f.known.merge(a, b)
}

// ExtractOutput estimates. The error wraps fl.ErrTooFewReports below the round's min_reports.
func (f *Combine) ExtractOutput(a Accumulator) (Estimate, error) {
	a, err := f.known.open(a)
	if err != nil {
		return Estimate{}, err
	}
	id := f.known[a.round].round.ID
	got, err := a.aggregator.Estimate()
	if err != nil {
		return Estimate{}, fmt.Errorf("round %s: %w", id, err)
	}
	e := Estimate{ID: id, Reports: got.Reports, Seeded: a.seeded, Guarantee: got.Guarantee, Suspects: got.Suspects}
	for _, c := range got.Columns {
		e.Columns = append(e.Columns, Column{c.Name, c.Value, c.StdErr})
	}
	return e, nil
}
