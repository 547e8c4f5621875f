package fltest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// snapshotRestores: an aggregator in another process takes over the state, whatever it
// counted before, and goes on.
func (s *suite) snapshotRestores() error {
	m := s.reopened()
	for _, n := range []int{0, 1, len(s.reports)} {
		agg := s.filled(s.reports[:n])
		state := stateOf(agg)
		for _, before := range []int{0, 2} {
			restored := filled(m, elsewhere, s.reports[:before])
			if err := restored.UnmarshalBinary(state); err != nil {
				return fmt.Errorf("of %d reports, into an aggregator with %d: %w", n, before, err)
			}
			if again := stateOf(restored); !bytes.Equal(again, state) {
				return fmt.Errorf("of %d reports, into an aggregator with %d: comes back as %x, was %x", n, before, again, state)
			}
			if err := sameEstimates(restored, agg); err != nil {
				return fmt.Errorf("of %d reports, into an aggregator with %d: %w", n, before, err)
			}
			if err := restored.Merge(agg); err != nil {
				return fmt.Errorf("Merge into a restored aggregator: %w", err)
			}
		}
	}
	return nil
}

// sameEstimates: two aggregators give the same estimate, or both an error.
func sameEstimates(got, want fl.Aggregator) error {
	g, gotErr := got.Estimate()
	w, wantErr := want.Estimate()
	if gotErr != nil || wantErr != nil {
		if (gotErr == nil) != (wantErr == nil) || errors.Is(gotErr, fl.ErrNoReports) != errors.Is(wantErr, fl.ErrNoReports) {
			return fmt.Errorf("Estimate: error %w, want %w", gotErr, wantErr)
		}
		return nil
	}
	return compare(g, w, 0)
}

// snapshotIsCopy: it shares no memory with the aggregator that wrote it, nor with the one
// that read it.
func (s *suite) snapshotIsCopy() error {
	agg := s.filled(s.reports)
	written := must(agg.MarshalBinary())
	restored := s.mechanism.NewAggregator()
	read := bytes.Clone(written)
	fail(restored.UnmarshalBinary(read))
	return unchanged(func() error {
		for _, b := range [][]byte{written, read} {
			for i := range b {
				b[i] ^= 0xFF
			}
		}
		return nil
	}, agg, restored)
}

// damagedSnapshotsAreHarmless: they are refused and change nothing, or are a state like any
// other.
func (s *suite) damagedSnapshotsAreHarmless() error {
	good := stateOf(s.filled(s.reports))
	bad := []named[[]byte]{}
	for what, data := range damaged(good, s.rand(7)) {
		bad = append(bad, named[[]byte]{"a snapshot " + what, data})
	}
	for _, stranger := range s.strangers() {
		state := stateOf(stranger.value.NewAggregator())
		bad = append(bad, named[[]byte]{"a snapshot of a round with " + stranger.what, state})
	}
	target := s.filled(slices.Concat(s.reports, s.reports[:3]))
	return each(bad, func(data []byte) error {
		before := stateOf(target)
		refused := target.UnmarshalBinary(data)
		after := stateOf(target)
		if refused != nil && !bytes.Equal(after, before) {
			return errors.New("was refused, and the state is another one")
		}
		if refused == nil {
			return s.isState(after)
		}
		return nil
	})
}

// isState checks what an aggregator writes that took a damaged snapshot: it can be read, and
// the aggregator that reads it does not panic.
func (s *suite) isState(state []byte) error {
	again := s.mechanism.NewAggregator()
	if err := again.UnmarshalBinary(state); err != nil {
		return fmt.Errorf("was taken, and what is written then cannot be read: %w", err)
	}
	// A number of reports at its limit leaves no room for another one: errors are good.
	_, _ = again.Estimate()
	_ = again.Add(s.reports[0])
	return nil
}
