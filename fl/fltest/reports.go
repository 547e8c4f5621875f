package fltest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// damaged yields what may become of good bytes on their way, with names: nothing,
// truncated, extended, with a bit flipped, random. It is some 100 variants however long the
// bytes are.
func damaged(good []byte, rng *rand.Rand) iter.Seq2[string, []byte] {
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	return func(yield func(string, []byte) bool) {
		ok := yield("nil", nil) && yield("empty", []byte{})
		for i := range min(len(good), 16) {
			n := len(good) - 1 - i*len(good)/min(len(good), 16)
			ok = ok && yield(fmt.Sprintf("cut to %d of %d bytes", n, len(good)), bytes.Clone(good[:n]))
		}
		for _, more := range [][]byte{{0}, {0xFF}, random(8), bytes.Clone(good), bytes.Repeat([]byte{0xFF}, 64)} {
			ok = ok && yield(fmt.Sprintf("extended by %x", more), append(bytes.Clone(good), more...))
		}
		for bit := range min(8*len(good), 64) { // all of them, or a sample
			if len(good) > 8 {
				bit = rng.IntN(8 * len(good))
			}
			flipped := bytes.Clone(good)
			flipped[bit/8] ^= 1 << (bit % 8)
			ok = ok && yield(fmt.Sprintf("with bit %d of byte %d flipped", bit%8, bit/8), flipped)
		}
		for _, n := range []int{1, 2, 7, len(good), len(good), 300} {
			ok = ok && yield(fmt.Sprintf("of %d random bytes", n), random(n))
		}
		if ok {
			yield(fmt.Sprintf("of %d bytes 0xFF", len(good)), bytes.Repeat([]byte{0xFF}, len(good)))
		}
	}
}

// addKeepsNoSlice: a server reads every report into the same buffer.
func (s *suite) addKeepsNoSlice() error {
	agg, want := s.filled(s.reports), s.filled(s.reports)
	for _, report := range s.reports {
		mine := bytes.Clone(report)
		fail(cmp.Or(agg.Add(mine), want.Add(bytes.Clone(report))))
		if !bytes.Equal(mine, report) {
			return errors.New("the report was changed")
		}
		for i := range mine {
			mine[i] ^= 0xFF
		}
	}
	return compareAggregators(agg, want, 0)
}

func (s *suite) badReportsChangeNothing() error {
	agg := s.filled(s.reports)
	state := stateOf(agg)
	counted := int64(len(s.reports))
	rng := s.rand(6)
	for _, report := range s.reports[:min(samples, len(s.reports))] {
		for what, bad := range damaged(report, rng) {
			refused := protect(func() error { return agg.Add(bad) })
			after := stateOf(agg)
			switch {
			case refused == nil:
				counted++
			case !errors.Is(refused, fl.ErrBadReport):
				return fmt.Errorf("a report %s: error %w, want one that wraps fl.ErrBadReport", what, refused)
			case !bytes.Equal(after, state):
				return fmt.Errorf("a report %s was refused, and the state is another one", what)
			}
			state = after
		}
	}
	e, err := agg.Estimate()
	if err != nil {
		return fmt.Errorf("Estimate: %w", err)
	}
	if e.Reports != counted {
		return fmt.Errorf("%d reports were counted, the estimate says %d", counted, e.Reports)
	}
	return finite(e)
}

// refused returns a report that aggregators refuse, or ok false if they refuse none.
func (s *suite) refused() (bad []byte, ok bool) {
	for _, bad := range damaged(s.reports[0], s.rand(6)) {
		if protect(func() error { return s.mechanism.NewAggregator().Add(bad) }) != nil {
			return bad, true
		}
	}
	return nil, false
}

// batches are the ways to add a batch to an aggregator.
func (s *suite) batches(agg fl.Aggregator) []named[func([][]byte) error] {
	ways := []named[func([][]byte) error]{
		{"fl.AddBatch", func(reports [][]byte) error { return fl.AddBatch(s.mechanism, agg, reports) }},
	}
	if b, ok := agg.(fl.BatchAdder); ok {
		ways = append(ways, named[func([][]byte) error]{"AddBatch", b.AddBatch})
	}
	return ways
}

func (s *suite) goodBatchIsCounted() error {
	want := s.filled(s.reports)
	for i := range s.batches(want) {
		agg := s.filled(s.reports[:1])
		way := s.batches(agg)[i]
		for _, batch := range [][][]byte{nil, s.reports[1:], {}} {
			if err := way.value(batch); err != nil {
				return fmt.Errorf("%s of %d good reports: %w", way.what, len(batch), err)
			}
		}
		if err := compareAggregators(agg, want, roundoff); err != nil {
			return fmt.Errorf("%s is not Add one by one: %w", way.what, err)
		}
	}
	return nil
}

func (s *suite) badBatchChangesNothing() error {
	bad, ok := s.refused()
	if !ok {
		return nil
	}
	agg := s.filled(s.reports)
	return each(s.batches(agg), func(addBatch func([][]byte) error) error {
		for _, at := range []int{0, 3, 6} {
			batch := append([][]byte(nil), s.reports[:7]...)
			batch[at] = bad
			err := unchanged(func() error {
				var b *fl.BatchError
				if err := addBatch(batch); !errors.As(err, &b) || b.Index != at || !errors.Is(err, fl.ErrBadReport) {
					return fmt.Errorf("error %v, want a *fl.BatchError for reports[%d] that wraps fl.ErrBadReport", err, at)
				}
				return nil
			}, agg)
			if err != nil {
				return fmt.Errorf("with a bad report at %d: %w", at, err)
			}
		}
		return nil
	})
}
