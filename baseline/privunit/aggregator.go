package privunit

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/snapshot"
)

type aggregator struct {
	mechanism *mechanism
	reports   int64
	sum       []float64
}

var _ fl.BatchAdder = (*aggregator)(nil)

func (a *aggregator) Add(report []byte) error {
	if err := a.check(report); err != nil {
		return err
	}
	a.count(report)
	return nil
}

// AddBatch implements fl.BatchAdder: it checks everything before it counts anything.
func (a *aggregator) AddBatch(reports [][]byte) error {
	for i, report := range reports {
		if err := a.check(report); err != nil {
			return &fl.BatchError{Index: i, Err: err}
		}
	}
	for _, report := range reports {
		a.count(report)
	}
	return nil
}

func (a *aggregator) check(report []byte) error {
	if want := a.mechanism.ReportBytes(); len(report) != want {
		return fmt.Errorf("privunitg: add: %w: length: got %d bytes, must be 4·dim = %d", fl.ErrBadReport, len(report), want)
	}
	const exponent = 0xff << 23 // all ones in NaN and Inf
	for j := range a.sum {
		if binary.LittleEndian.Uint32(report[4*j:])&exponent == exponent {
			return fmt.Errorf("privunitg: add: %w: coordinate %d: got %g, must be finite", fl.ErrBadReport, j, at32(report, j))
		}
	}
	return nil
}

func (a *aggregator) count(report []byte) {
	for j := range a.sum {
		a.sum[j] += float64(at32(report, j))
	}
	a.reports++
}

func (a *aggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*aggregator)
	if !ok || o.mechanism.digest != a.mechanism.digest {
		return fmt.Errorf("privunitg: merge: the aggregators belong to different rounds")
	}
	for j := range a.sum {
		a.sum[j] += o.sum[j]
	}
	a.reports += o.reports
	return nil
}

// Estimate implements fl.Aggregator. The standard error is exact where the gradients are
// 0. Elsewhere the variance changes by at most (z/slope − 1)·Scale² times the squared
// coordinate in units of Scale: what that may add is added, what it may take is not taken.
func (a *aggregator) Estimate() (*fl.Estimate, error) {
	if a.reports == 0 {
		return nil, fmt.Errorf("privunitg: estimate: %w", fl.ErrNoReports)
	}
	n, s := float64(a.reports), a.mechanism.split
	variance := 1/(s.slope()*s.slope()) + max(0, s.z/s.slope()-1)
	se := a.mechanism.round.Scale * math.Sqrt(variance/n)
	e := &fl.Estimate{
		Series:    fl.Series{Value: make([]float64, len(a.sum)), StdErr: make([]float64, len(a.sum))},
		Reports:   a.reports,
		Mechanism: Name,
		Guarantee: a.mechanism.Guarantee(),
	}
	for j, sum := range a.sum {
		e.Value[j], e.StdErr[j] = sum/n, se
	}
	return e, nil
}

// MarshalBinary implements fl.Aggregator: the number of reports, then the sums as float64,
// little-endian. Their last bits depend on the order of the reports.
func (a *aggregator) MarshalBinary() ([]byte, error) {
	payload := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+8*len(a.sum)), uint64(a.reports))
	for _, v := range a.sum {
		payload = binary.LittleEndian.AppendUint64(payload, math.Float64bits(v))
	}
	return snapshot.Encode(a.mechanism.digest, payload)
}

// UnmarshalBinary implements fl.Aggregator. On error the state is unchanged.
func (a *aggregator) UnmarshalBinary(data []byte) error {
	want := 8 + 8*len(a.sum)
	payload, err := snapshot.Decode(a.mechanism.digest, want, data)
	if err != nil {
		return fmt.Errorf("privunitg: aggregator snapshot: %w", err)
	}
	if len(payload) != want {
		return fmt.Errorf("privunitg: aggregator snapshot: got %d bytes, must be %d", len(payload), want)
	}
	reports := binary.LittleEndian.Uint64(payload)
	if reports > fl.MaxReports {
		return fmt.Errorf("privunitg: aggregator snapshot: reports: got %d, must be at most %d", reports, fl.MaxReports)
	}
	sum := make([]float64, len(a.sum))
	for j := range sum {
		sum[j] = math.Float64frombits(binary.LittleEndian.Uint64(payload[8+8*j:]))
		if math.IsNaN(sum[j]) || math.IsInf(sum[j], 0) {
			return fmt.Errorf("privunitg: aggregator snapshot: sum %d: got %g, must be finite", j, sum[j])
		}
	}
	a.reports, a.sum = int64(reports), sum
	return nil
}
