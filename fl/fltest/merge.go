package fltest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// sum merges aggregators that counted parts of the reports, from left to right.
func (s *suite) sum(parts ...[][]byte) fl.Aggregator {
	total := s.mechanism.NewAggregator()
	for _, part := range parts {
		fail(total.Merge(s.filled(part)))
	}
	return total
}

// mergeIsSum: however the reports are split and in whatever order, the sum is the same.
func (s *suite) mergeIsSum() error {
	want := s.filled(s.reports)
	all, third := s.reports, len(s.reports)/3
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	return each([]named[[][][]byte]{
		{"all reports merged into nothing", [][][]byte{all}},
		{"nothing merged into all reports", [][][]byte{all, nil}},
		{"three parts", [][][]byte{all[:third], all[third : 2*third], all[2*third:]}},
		{"three parts, the last one first", [][][]byte{all[2*third:], all[third : 2*third], all[:third]}},
		{"many parts of one report", append(slices.Collect(slices.Chunk(all[:third], 1)), all[third:])},
		{"reports backwards", [][][]byte{backwards[:1], backwards[1:]}},
	}, func(parts [][][]byte) error {
		return compareAggregators(s.sum(parts...), want, roundoff)
	})
}

// mergeLeavesOther: neither the merge nor what is counted afterwards changes other, and
// what other counts afterwards does not change the sum.
func (s *suite) mergeLeavesOther() error {
	for _, into := range []int{0, 5} {
		agg, other := s.filled(s.reports[:into]), s.filled(s.reports[5:])
		if err := unchanged(func() error { return agg.Merge(other) }, other); err != nil {
			return fmt.Errorf("into an aggregator with %d reports: other: %w", into, err)
		}
		if err := unchanged(func() error { return agg.Add(s.reports[0]) }, other); err != nil {
			return fmt.Errorf("Add to the sum: other: %w", err)
		}
		if err := unchanged(func() error { return other.Add(s.reports[0]) }, agg); err != nil {
			return fmt.Errorf("Add to other: the sum: %w", err)
		}
	}
	return nil
}

// mergeTakesReopened: aggregators of the same round fit whoever opened it.
func (s *suite) mergeTakesReopened() error {
	agg := s.filled(s.reports[:5])
	if err := agg.Merge(filled(s.reopened(), elsewhere, s.reports[5:])); err != nil {
		return fmt.Errorf("of an aggregator of the same round, opened again: %w", err)
	}
	return compareAggregators(agg, s.filled(s.reports), roundoff)
}

func (s *suite) mergeRefusesStrangers() error {
	agg := s.filled(s.reports)
	others := []named[fl.Aggregator]{{"nil", nil}, {"an aggregator of another mechanism", alien{}}}
	for _, stranger := range s.strangers() {
		others = append(others, named[fl.Aggregator]{"an aggregator of a round with " + stranger.what, stranger.value.NewAggregator()})
	}
	return each(others, func(other fl.Aggregator) error {
		watched := []fl.Aggregator{agg}
		if other != nil {
			watched = append(watched, other)
		}
		return unchanged(func() error {
			if err := agg.Merge(other); err == nil {
				return errors.New("was merged, want an error")
			}
			return nil
		}, watched...)
	})
}

// alien is no aggregator of any mechanism.
type alien struct{}

var errAlien = errors.New("fltest: an aggregator that counts nothing")

func (alien) Add([]byte) error                { return errAlien }
func (alien) Merge(fl.Aggregator) error       { return errAlien }
func (alien) Estimate() (*fl.Estimate, error) { return nil, errAlien }
func (alien) MarshalBinary() ([]byte, error)  { return []byte("fltest"), nil }
func (alien) UnmarshalBinary([]byte) error    { return errAlien }
