package pipeline

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// countFn counts batches in the worker that has read them, and emits one accumulator for every
// round when the runner ends a bundle. Reports do not leave the worker.
type countFn struct {
	Rounds Rounds

	known   mechanisms
	counted map[string]Accumulator // by key
}

// Setup builds the mechanisms of all rounds, once in a worker.
func (f *countFn) Setup() (err error) {
	f.known, err = f.Rounds.open()
	return err
}

// StartBundle begins without any reports.
func (f *countFn) StartBundle(func(string, Accumulator)) { f.counted = map[string]Accumulator{} }

// ProcessElement counts a batch.
func (f *countFn) ProcessElement(key string, b Batch, _ func(string, Accumulator)) (err error) {
	f.counted[key], err = f.known.add(f.counted[key], b)
	return err
}

// FinishBundle emits what was counted.
func (f *countFn) FinishBundle(emit func(string, Accumulator)) {
	for key, a := range f.counted {
		emit(key, a)
	}
	f.counted = nil
}

// mechanism is an open round.
type mechanism struct {
	fl.Mechanism
	round fl.Round
}

// mechanisms are open rounds by their digests.
type mechanisms map[[sha256.Size]byte]mechanism

// open builds the mechanisms.
func (rs Rounds) open() (mechanisms, error) {
	rounds, err := rs.byDigest()
	if err != nil {
		return nil, err
	}
	all := mechanisms{}
	for digest, r := range rounds {
		m, err := fl.Open(r)
		if err != nil {
			return nil, err
		}
		all[digest] = mechanism{m, r}
	}
	return all, nil
}

// add counts a batch. The error says the file and the byte of a report that is none of the round.
func (ms mechanisms) add(a Accumulator, b Batch) (Accumulator, error) {
	if a.empty() {
		a.round = b.Round
	}
	a, err := ms.open(a)
	if err != nil {
		return a, fmt.Errorf("%s: %w", b.File, err)
	}
	if a.round != b.Round {
		return a, ms.mixed(a.round, b.Round)
	}
	if err := fl.AddBatch(ms[a.round], a.aggregator, b.Reports); err != nil {
		var bad *fl.BatchError
		if errors.As(err, &bad) && bad.Index < len(b.Offsets) {
			return a, fmt.Errorf("%s: report at byte %d: %w", b.File, b.Offsets[bad.Index], bad.Err)
		}
		return a, fmt.Errorf("%s: %w", b.File, err)
	}
	if b.Seeded {
		a.seeded += int64(len(b.Reports))
	}
	return a, nil
}

// merge adds b to a.
func (ms mechanisms) merge(a, b Accumulator) (Accumulator, error) {
	switch {
	case b.empty():
		return a, nil
	case a.empty():
		return b, nil
	case a.round != b.round:
		return a, ms.mixed(a.round, b.round)
	}
	a, err := ms.open(a)
	if err != nil {
		return a, err
	}
	if b, err = ms.open(b); err != nil {
		return a, err
	}
	if err := a.aggregator.Merge(b.aggregator); err != nil {
		return a, err
	}
	a.seeded += b.seeded
	return a, nil
}

// open returns a with an aggregator. A snapshot of another machine is read, and checked by the
// limits of its round.
func (ms mechanisms) open(a Accumulator) (Accumulator, error) {
	if a.aggregator != nil {
		return a, nil
	}
	m, ok := ms[a.round]
	if !ok {
		return a, badAccumulator("round", fmt.Sprintf("%x…", a.round[:8]), "must be one of %s", ms)
	}
	aggregator := m.NewAggregator()
	if a.snapshot != nil {
		if err := aggregator.UnmarshalBinary(a.snapshot); err != nil {
			return a, err
		}
	}
	a.aggregator, a.snapshot = aggregator, nil
	return a, nil
}

func (ms mechanisms) mixed(a, b [sha256.Size]byte) error {
	return badAccumulator("round", fmt.Sprintf("%x…", b[:8]), "must be %x…, the round of what has the same key", a[:8])
}

// String lists the rounds with their digests.
func (ms mechanisms) String() string {
	var all []string
	for digest, m := range ms {
		all = append(all, fmt.Sprintf("%x… (%s)", digest[:8], m.round.ID))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
