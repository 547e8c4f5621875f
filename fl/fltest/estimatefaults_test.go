package fltest_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// estimates returns a fault of good estimates.
func estimates(change func(a *faultyAggregator, e *fl.Estimate)) func(f *faulty) {
	return func(f *faulty) {
		f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) {
			e, err := a.toyAggregator.Estimate()
			if err == nil {
				change(a, e)
			}
			return e, err
		}
	}
}

// estimateFaults are faults in what an aggregator gives away: snapshots and estimates.
func estimateFaults() []fault {
	return []fault{
		{"forgets the counts", "snapshot", "comes back as", func(f *faulty) {
			f.unmarshalBinary = func(a *faultyAggregator, data []byte) error {
				err := a.toyAggregator.UnmarshalBinary(data)
				clear(a.Counts[0])
				return err
			}
		}},
		{"restores into nothing only", "snapshot", "into an aggregator with 2", func(f *faulty) {
			f.unmarshalBinary = func(a *faultyAggregator, data []byte) error {
				if a.Reports[0] > 0 {
					return errors.New("not empty")
				}
				return a.toyAggregator.UnmarshalBinary(data)
			}
		}},
		{"writes no snapshot of nothing", "snapshot", "MarshalBinary: nothing", func(f *faulty) {
			f.marshalBinary = func(a *faultyAggregator) ([]byte, error) {
				if a.Reports[0] == 0 {
					return nil, errors.New("nothing")
				}
				return a.toyAggregator.MarshalBinary()
			}
		}},
		{"writes the time", "snapshot", "must stay as it was", func(f *faulty) {
			f.marshalBinary = func(a *faultyAggregator) ([]byte, error) {
				a.times++
				data, err := a.toyAggregator.MarshalBinary()
				return append(data, byte(a.times)), err
			}
			f.unmarshalBinary = func(a *faultyAggregator, data []byte) error {
				return a.toyAggregator.UnmarshalBinary(data[:max(len(data)-1, 0)])
			}
		}},
		{"forgets standard errors", "snapshot", "standard error of coordinate 0", func(f *faulty) {
			f.add = func(a *faultyAggregator, report []byte) error { a.times++; return a.toyAggregator.Add(report) }
			estimates(func(a *faultyAggregator, e *fl.Estimate) { e.Mean().StdErr[0] *= float64(1 + a.times) })(f)
		}},
		{"forgets the norm of the noise", "snapshot", "norm of the noise", func(f *faulty) {
			f.add = func(a *faultyAggregator, report []byte) error { a.times++; return a.toyAggregator.Add(report) }
			estimates(func(a *faultyAggregator, e *fl.Estimate) { e.NoiseNorm *= float64(1 + a.times) })(f)
		}},
		{"adds a snapshot", "snapshot", "into an aggregator with 2", func(f *faulty) {
			f.unmarshalBinary = func(a *faultyAggregator, data []byte) error {
				read := a.toy.NewAggregator().(*toyAggregator)
				if err := read.UnmarshalBinary(data); err != nil {
					return err
				}
				return a.toyAggregator.Merge(read)
			}
		}},
		{"forgets what it does not write", "snapshot", "reports of", func(f *faulty) {
			f.add = func(a *faultyAggregator, report []byte) error {
				err := a.toyAggregator.Add(report)
				if err == nil {
					a.times++
				}
				return err
			}
			estimates(func(a *faultyAggregator, e *fl.Estimate) { e.Reports = int64(a.times) })(f)
		}},
		{"panics on short snapshots", "snapshot", "panic", func(f *faulty) {
			f.unmarshalBinary = func(a *faultyAggregator, data []byte) error {
				_ = data[:32]
				return a.toyAggregator.UnmarshalBinary(data)
			}
		}},
		{"takes a part of a snapshot", "snapshot", "another one", func(f *faulty) {
			f.unmarshalBinary = func(a *faultyAggregator, data []byte) error {
				if len(data) > 40 {
					a.Reports[0] = int64(data[32])
				}
				return a.toyAggregator.UnmarshalBinary(data)
			}
		}},
		{"does not estimate what it restored", "snapshot", "restored", func(f *faulty) {
			f.unmarshalBinary = func(a *faultyAggregator, data []byte) error {
				a.times++
				return a.toyAggregator.UnmarshalBinary(data)
			}
			f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) {
				if a.times > 0 && a.Reports[0] > 0 {
					return nil, errors.New("was restored")
				}
				return a.toyAggregator.Estimate()
			}
		}},
		{"does not merge what it restored", "snapshot", "Merge into a restored", func(f *faulty) {
			f.unmarshalBinary = func(a *faultyAggregator, data []byte) error {
				a.times++
				return a.toyAggregator.UnmarshalBinary(data)
			}
			good := f.merge
			f.merge = func(a *faultyAggregator, other fl.Aggregator) error {
				if a.times > 0 {
					return errors.New("was restored")
				}
				return good(a, other)
			}
		}},
		{"keeps the snapshot", "snapshot", "must stay as it was", func(f *faulty) {
			f.unmarshalBinary = func(a *faultyAggregator, data []byte) error {
				err := a.toyAggregator.UnmarshalBinary(data)
				if err == nil {
					a.kept = data
				}
				return err
			}
			f.marshalBinary = func(a *faultyAggregator) ([]byte, error) {
				if a.kept != nil {
					return bytes.Clone(a.kept), nil
				}
				return a.toyAggregator.MarshalBinary()
			}
		}},
		{"hands out its snapshot", "snapshot", "must stay as it was", func(f *faulty) {
			f.marshalBinary = func(a *faultyAggregator) ([]byte, error) {
				if n := int(a.Reports[0]); a.kept == nil || a.times != n {
					data, err := a.toyAggregator.MarshalBinary()
					if err != nil {
						return nil, err
					}
					a.kept, a.times = data, n
				}
				return a.kept, nil
			}
		}},
		{"takes what it cannot read again", "snapshot", "cannot be read", func(f *faulty) {
			f.unmarshalBinary = func(a *faultyAggregator, data []byte) error {
				if len(data) == 7 {
					a.kept = bytes.Repeat(data, 2)
					return nil
				}
				return a.toyAggregator.UnmarshalBinary(data)
			}
			f.marshalBinary = func(a *faultyAggregator) ([]byte, error) {
				if a.kept != nil {
					return bytes.Clone(a.kept), nil
				}
				return a.toyAggregator.MarshalBinary()
			}
		}},

		{"doubles the mean and states a hundredth of its errors", "unbiased", "ε = 4: bias: ", estimates(func(_ *faultyAggregator, e *fl.Estimate) {
			for j := range e.Mean().Value {
				e.Mean().Value[j] *= 2
				e.Mean().StdErr[j] /= 100
			}
		})},
		{"states a hundredth of its errors", "unbiased", "ε = 20: standard errors: ", estimates(func(_ *faultyAggregator, e *fl.Estimate) {
			for j := range e.Mean().StdErr {
				e.Mean().StdErr[j] /= 100
			}
		})},
		{"states ten times its errors", "unbiased", "standard errors: ", estimates(func(_ *faultyAggregator, e *fl.Estimate) {
			for j := range e.Mean().StdErr {
				e.Mean().StdErr[j] *= 10
			}
		})},
		{"adds to one coordinate", "unbiased", "ε = 20: bias: 1 of 6 coordinates", estimates(func(a *faultyAggregator, e *fl.Estimate) {
			e.Mean().Value[5] += a.round.Scale
		})},

		{"estimates from nothing", "estimate", "without reports", func(f *faulty) {
			f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) {
				if a.Reports == [2]int64{} {
					return fl.NewEstimate(a.round, a.Guarantee(), 0, fl.Series{Value: make([]float64, a.round.Dim)}), nil
				}
				return a.toyAggregator.Estimate()
			}
		}},
		{"has an error of its own for nothing", "estimate", "fl.ErrNoReports", func(f *faulty) {
			f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) {
				e, err := a.toyAggregator.Estimate()
				if err != nil {
					err = errors.New("nothing")
				}
				return e, err
			}
		}},
		{"estimates too early", "estimate", "although min_reports is 12", func(f *faulty) {
			f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) {
				early := *a.toyAggregator.toy
				early.round.MinReports = 1
				return (&toyAggregator{toy: &early, Reports: a.Reports, Counts: a.Counts}).Estimate()
			}
		}},
		{"has an error of its own for too few", "estimate", "want the error of Round.CheckReports", func(f *faulty) {
			f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) {
				e, err := a.toyAggregator.Estimate()
				if errors.Is(err, fl.ErrTooFewReports) {
					err = fl.Invalid("reports", a.Reports[0], "must be more")
				}
				return e, err
			}
		}},
		{"wants more than min_reports", "estimate", "of min_reports = 12", func(f *faulty) {
			f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) {
				if n := a.Reports[0]; n == 12 {
					return nil, fmt.Errorf("%d are not enough", n)
				}
				return a.toyAggregator.Estimate()
			}
		}},
		{"has columns in another order", "estimate", "columns", estimates(func(_ *faultyAggregator, e *fl.Estimate) { slices.Reverse(e.Columns[1:]) })},
		{"has no columns", "estimate", "columns", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.Columns = e.Columns[:1] })},
		{"has a short column", "estimate", "values", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.Columns[1].Value = e.Columns[1].Value[1:] })},
		{"has short standard errors", "estimate", "standard errors", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.Columns[0].StdErr = e.Columns[0].StdErr[1:] })},
		{"has negative standard errors", "estimate", "negative", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.Columns[0].StdErr[0] = -1 })},
		{"has a negative norm", "estimate", "want a finite number", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.NoiseNorm = -1 })},
		{"has an infinite norm", "estimate", "want a finite number", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.NoiseNorm = math.Inf(1) })},
		{"has no norm", "estimate", "want a finite number", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.NoiseNorm = math.NaN() })},
		{"has an infinite value", "estimate", "finite", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.Columns[2].Value[5] = math.Inf(1) })},
		{"miscounts", "estimate", "reports of", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.Reports++ })},
		{"goes by another name", "estimate", "reports of", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.Mechanism = "toy" })},
		{"changes when it estimates", "estimate", "must stay as it was", estimates(func(a *faultyAggregator, _ *fl.Estimate) { a.Counts[0][0]++ })},
		{"estimates something else the second time", "estimate", "second time", estimates(func(a *faultyAggregator, e *fl.Estimate) {
			a.times++
			e.Mean().Value[0] *= float64(a.times)
		})},
		{"hands out its memory", "estimate", "caller changed", func(f *faulty) {
			f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) {
				e, err := a.toyAggregator.Estimate()
				if err != nil {
					return nil, err
				}
				if a.series.Value == nil {
					a.series = e.Mean()
				}
				e.Columns[0].Series = a.series
				return e, nil
			}
		}},
		{"estimates once", "estimate", "second time", func(f *faulty) {
			f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) {
				if a.times++; a.times > 1 {
					return nil, errors.New("is closed")
				}
				return a.toyAggregator.Estimate()
			}
		}},
		{"is closed by an estimate", "estimate", "Add after an estimate: is closed", func(f *faulty) {
			f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) { a.times++; return a.toyAggregator.Estimate() }
			f.add = func(a *faultyAggregator, report []byte) error {
				if a.times > 0 {
					return errors.New("is closed")
				}
				return a.toyAggregator.Add(report)
			}
		}},
		{"counts nothing after an estimate", "estimate", "after an estimate", func(f *faulty) {
			f.estimate = func(a *faultyAggregator) (*fl.Estimate, error) { a.times++; return a.toyAggregator.Estimate() }
			f.add = func(a *faultyAggregator, report []byte) error {
				if a.times > 0 {
					return a.check(report)
				}
				return a.toyAggregator.Add(report)
			}
		}},
	}
}
