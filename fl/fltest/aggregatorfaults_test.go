package fltest_test

import (
	"errors"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// adds returns a fault of Add.
func adds(add func(a *faultyAggregator, report []byte) error) func(f *faulty) {
	return func(f *faulty) { f.add = add }
}

// batches returns a fault of AddBatch.
func batches(addBatch func(a *faultyAggregator, reports [][]byte) error) func(f *faulty) {
	return func(f *faulty) { f.addBatch = addBatch }
}

// merges returns a fault of Merge, to which good aggregators of the round come.
func merges(merge func(a, o *faultyAggregator) error) func(f *faulty) {
	return func(f *faulty) {
		good := f.merge
		f.merge = func(a *faultyAggregator, other fl.Aggregator) error {
			if o, ok := other.(*faultyAggregator); ok && o.toyAggregator.digest == a.toyAggregator.digest {
				return merge(a, o)
			}
			return good(a, other)
		}
	}
}

// aggregatorFaults are faults in what an aggregator takes: reports and other aggregators.
func aggregatorFaults() []fault {
	// What an aggregator estimates after a merge.
	merged := func(change func(e *fl.Estimate)) func(f *faulty) {
		return func(f *faulty) {
			merges(func(a, o *faultyAggregator) error { a.times++; return a.toyAggregator.Merge(o.toyAggregator) })(f)
			estimates(func(a *faultyAggregator, e *fl.Estimate) {
				if a.times > 0 {
					change(e)
				}
			})(f)
		}
	}
	return []fault{
		{"keeps the slice", "add", "reports of", func(f *faulty) {
			flush := func(a *faultyAggregator) {
				if a.kept != nil {
					_ = a.toyAggregator.Add(a.kept)
					a.kept = nil
				}
			}
			f.add = func(a *faultyAggregator, report []byte) error {
				flush(a)
				if err := a.check(report); err != nil {
					return err
				}
				a.kept = report
				return nil
			}
			f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) { flush(a); return a.toyAggregator.Estimate() }
			f.marshalBinary = func(a *faultyAggregator) ([]byte, error) { flush(a); return a.toyAggregator.MarshalBinary() }
		}},
		{"changes the report", "add", "report was changed", adds(func(a *faultyAggregator, report []byte) error {
			err := a.toyAggregator.Add(report)
			clear(report)
			return err
		})},

		{"counts what it refuses", "bad reports", "another one", adds(func(a *faultyAggregator, report []byte) error {
			err := a.toyAggregator.Add(report)
			if err != nil {
				a.Reports[0]++
			}
			return err
		})},
		{"refuses for another reason", "bad reports", "fl.ErrBadReport", adds(func(a *faultyAggregator, report []byte) error {
			if a.toyAggregator.Add(report) != nil {
				return errors.New("no report")
			}
			return nil
		})},
		{"panics on short reports", "bad reports", "panic", adds(func(a *faultyAggregator, report []byte) error {
			_ = report[2]
			return a.toyAggregator.Add(report)
		})},
		{"ignores bad reports", "bad reports", "were counted", adds(func(a *faultyAggregator, report []byte) error {
			if a.toyAggregator.check(report) == nil {
				return a.toyAggregator.Add(report)
			}
			return nil
		})},
		{"is poisoned", "bad reports", "finite", func(f *faulty) {
			f.add = func(a *faultyAggregator, report []byte) error {
				if err := a.toyAggregator.Add(report[:min(3, len(report))]); err != nil {
					return err
				}
				a.times += len(report) - 3
				return nil
			}
			estimates(func(a *faultyAggregator, e *fl.Estimate) {
				if a.times > 0 {
					e.Mean().Value[1] = math.NaN()
				}
			})(f)
		}},

		{"is lost", "bad reports", "Estimate: lost", func(f *faulty) {
			f.add = func(a *faultyAggregator, report []byte) error {
				a.times += len(report) / 300
				return a.toyAggregator.Add(report)
			}
			f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) {
				if a.times > 0 {
					return nil, errors.New("lost")
				}
				return a.toyAggregator.Estimate()
			}
		}},
		{"counts part of a batch", "batch", "must stay as it was", batches(func(a *faultyAggregator, reports [][]byte) error {
			for i, report := range reports {
				if err := a.toyAggregator.Add(report); err != nil {
					return &fl.BatchError{Index: i, Err: err}
				}
			}
			return nil
		})},
		{"blames another report", "batch", "BatchError for reports[3]", batches(func(a *faultyAggregator, reports [][]byte) error {
			err := a.toyAggregator.AddBatch(reports)
			var b *fl.BatchError
			if errors.As(err, &b) {
				b.Index = 0
			}
			return err
		})},
		{"blames for another reason", "batch", "fl.ErrBadReport", batches(func(a *faultyAggregator, reports [][]byte) error {
			err := a.toyAggregator.AddBatch(reports)
			var b *fl.BatchError
			if errors.As(err, &b) {
				b.Err = errors.New("no report")
			}
			return err
		})},
		{"blames no report", "batch", "BatchError", batches(func(a *faultyAggregator, reports [][]byte) error {
			if err := a.toyAggregator.AddBatch(reports); err != nil {
				return errors.Unwrap(err)
			}
			return nil
		})},
		{"loses the last of a batch", "batch", "is not Add one by one", batches(func(a *faultyAggregator, reports [][]byte) error {
			return a.toyAggregator.AddBatch(reports[:max(len(reports)-1, 0)])
		})},
		{"refuses no batch", "batch", "of 0 good reports", batches(func(a *faultyAggregator, reports [][]byte) error {
			if len(reports) == 0 {
				return errors.New("nothing to add")
			}
			return a.toyAggregator.AddBatch(reports)
		})},
		{"panics on no batch", "batch", "panic", batches(func(a *faultyAggregator, reports [][]byte) error {
			_ = reports[0]
			return a.toyAggregator.AddBatch(reports)
		})},

		{"loses the counts", "merge", "coordinate", merges(func(a, o *faultyAggregator) error {
			before := slices.Clone(a.Counts[0])
			err := a.toyAggregator.Merge(o.toyAggregator)
			a.Counts[0] = before
			return err
		})},
		{"merges to no number", "merge", "NaN", merged(func(e *fl.Estimate) { e.Mean().Value[0] = math.NaN() })},
		{"merges the guarantee away", "merge", "guarantee", merged(func(e *fl.Estimate) { e.Guarantee.Epsilon++ })},
		{"merges a column away", "merge", "columns", merged(func(e *fl.Estimate) { e.Columns = e.Columns[:2] })},
		{"merges a coordinate away", "merge", "5 values", merged(func(e *fl.Estimate) { e.Columns[1].Value = e.Columns[1].Value[:5] })},
		{"merges the tiers away", "merge", "tiers", merged(func(e *fl.Estimate) { e.Tiers = nil })},
		{"merges large ones only", "merge", "three parts", merges(func(a, o *faultyAggregator) error {
			if o.Reports[0] < a.Reports[0] {
				o = &faultyAggregator{toyAggregator: a.toy.NewAggregator().(*toyAggregator)}
			}
			return a.toyAggregator.Merge(o.toyAggregator)
		})},
		{"takes away", "merge", "other: an aggregator changed", merges(func(a, o *faultyAggregator) error {
			err := a.toyAggregator.Merge(o.toyAggregator)
			*o.toyAggregator = *a.toy.NewAggregator().(*toyAggregator)
			return err
		})},
		{"shares memory", "merge", "Add to the sum: other", merges(func(a, o *faultyAggregator) error {
			if a.Reports == [2]int64{} {
				a.Reports, a.Counts = o.Reports, o.Counts
				return nil
			}
			return a.toyAggregator.Merge(o.toyAggregator)
		})},
		{"reads other later", "merge", "Add to other: the sum", func(f *faulty) {
			merges(func(a, o *faultyAggregator) error { a.others = append(a.others, o.toyAggregator); return nil })(f)
			whole := func(a *faultyAggregator) *toyAggregator {
				sum := a.toy.NewAggregator().(*toyAggregator)
				for _, part := range append(a.others, a.toyAggregator) {
					_ = sum.Merge(part)
				}
				return sum
			}
			f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) { return whole(a).Estimate() }
			f.marshalBinary = func(a *faultyAggregator) ([]byte, error) { return whole(a).MarshalBinary() }
		}},
		{"merges other rounds", "merge", "with another id: was merged", func(f *faulty) {
			f.merge = func(a *faultyAggregator, other fl.Aggregator) error {
				o, ok := other.(*faultyAggregator)
				if !ok {
					return errors.New("not mine")
				}
				return a.toyAggregator.Merge(&toyAggregator{toy: a.toy, Reports: o.Reports, Counts: o.Counts})
			}
		}},
		{"panics on other mechanisms", "merge", "another mechanism: panic", func(f *faulty) {
			f.merge = func(a *faultyAggregator, other fl.Aggregator) error {
				if other == nil {
					return errors.New("nil")
				}
				return a.toyAggregator.Merge(other.(*faultyAggregator).toyAggregator)
			}
		}},
		{"changes when it refuses", "merge", "nil: an aggregator changed", func(f *faulty) {
			good := f.merge
			f.merge = func(a *faultyAggregator, other fl.Aggregator) error {
				err := good(a, other)
				if err != nil {
					a.Reports[1]++
				}
				return err
			}
		}},
		{"merges its own mechanism only", "merge", "opened again", merges(func(a, o *faultyAggregator) error {
			if a.faults != o.faults {
				return errors.New("another mechanism")
			}
			return a.toyAggregator.Merge(o.toyAggregator)
		})},
	}
}
