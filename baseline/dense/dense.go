// Package dense is the baseline without privacy, registered as "none": every
// client sends its gradient as float32 numbers, and the server averages them. It
// exists to be compared with.
//
// A report is the gradient's coordinates as IEEE 754 binary32, little-endian,
// 4·dim bytes. A round must say Epsilon = +Inf, so that nobody opens it by
// mistake. Sums are float64: their last bits depend on the order of the reports.
package dense

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/snapshot"
)

// Name is the registered name.
const Name = "none"

func init() { fl.Register(Name, factory{}) }

type factory struct{}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	if !math.IsInf(r.Epsilon, 1) {
		return nil, fl.Invalid("epsilon", r.Epsilon, "must be +Inf: this mechanism has no privacy")
	}
	if err := r.Params.Only(); err != nil {
		return nil, err
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	return &mechanism{dim: r.Dim, digest: digest}, nil
}

type mechanism struct {
	dim    int
	digest [32]byte
}

var _ fl.ReportSizer = (*mechanism)(nil)

// Encode implements fl.Mechanism. rng is not used. O(dim).
func (m *mechanism) Encode(dst []byte, grad []float64, _ *rand.Rand) ([]byte, error) {
	if len(grad) != m.dim {
		return dst, fmt.Errorf("dense: encode: %w", fl.Invalid("gradient", len(grad), "must have dim = %d coordinates", m.dim))
	}
	start := len(dst)
	for j, g := range grad {
		if !finite(float64(float32(g))) {
			return dst[:start], fmt.Errorf("dense: encode: %w", fl.Invalid("gradient", g, "must be a finite float32, coordinate %d is not", j))
		}
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(g)))
	}
	return dst, nil
}

func (m *mechanism) NewAggregator() fl.Aggregator {
	return &aggregator{mechanism: m, sum: make([]float64, m.dim), squares: make([]float64, m.dim)}
}

func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Model: fl.NoPrivacy, Epsilon: math.Inf(1), Relation: fl.ReplaceOne}
}

func (m *mechanism) ReportBytes() int { return 4 * m.dim }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

type aggregator struct {
	mechanism    *mechanism
	reports      int64
	sum, squares []float64
}

var _ fl.BatchAdder = (*aggregator)(nil)

func (a *aggregator) Add(report []byte) error {
	if err := a.check(report); err != nil {
		return err
	}
	a.count(report)
	return nil
}

// AddBatch implements fl.BatchAdder: it checks everything before it counts
// anything.
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
	if len(report) != 4*a.mechanism.dim {
		return fmt.Errorf("dense: %w: length: got %d bytes, must be 4·dim = %d", fl.ErrBadReport, len(report), 4*a.mechanism.dim)
	}
	for j := range a.sum {
		if !finite(coordinate(report, j)) {
			return fmt.Errorf("dense: %w: coordinate %d: got %g, must be finite", fl.ErrBadReport, j, coordinate(report, j))
		}
	}
	return nil
}

func (a *aggregator) count(report []byte) {
	for j := range a.sum {
		v := coordinate(report, j)
		a.sum[j] += v
		a.squares[j] += v * v
	}
	a.reports++
}

func coordinate(report []byte, j int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(report[4*j:])))
}

func (a *aggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*aggregator)
	if !ok || o.mechanism.digest != a.mechanism.digest {
		return fmt.Errorf("dense: merge: the aggregators belong to different rounds")
	}
	for j := range a.sum {
		a.sum[j] += o.sum[j]
		a.squares[j] += o.squares[j]
	}
	a.reports += o.reports
	return nil
}

// Estimate implements fl.Aggregator. The standard error is that of the mean of
// a sample: it says how much the cohort, not the noise, matters.
func (a *aggregator) Estimate() (*fl.Estimate, error) {
	if a.reports == 0 {
		return nil, fmt.Errorf("dense: estimate: %w", fl.ErrNoReports)
	}
	n := float64(a.reports)
	e := &fl.Estimate{
		Series:    fl.Series{Value: make([]float64, len(a.sum)), StdErr: make([]float64, len(a.sum))},
		Reports:   a.reports,
		Mechanism: Name,
		Guarantee: a.mechanism.Guarantee(),
	}
	for j, sum := range a.sum {
		mean := sum / n
		e.Value[j] = mean
		e.StdErr[j] = math.Sqrt(max(a.squares[j]/n-mean*mean, 0) / n)
	}
	return e, nil
}

// MarshalBinary implements fl.Aggregator: the number of reports, then sums and
// sums of squares as float64, little-endian.
func (a *aggregator) MarshalBinary() ([]byte, error) {
	payload := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+16*len(a.sum)), uint64(a.reports))
	for _, values := range [][]float64{a.sum, a.squares} {
		for _, v := range values {
			payload = binary.LittleEndian.AppendUint64(payload, math.Float64bits(v))
		}
	}
	return snapshot.Encode(a.mechanism.digest, payload)
}

// UnmarshalBinary implements fl.Aggregator. On error the state is unchanged.
func (a *aggregator) UnmarshalBinary(data []byte) error {
	want := 8 + 16*a.mechanism.dim
	payload, err := snapshot.Decode(a.mechanism.digest, want, data)
	if err != nil {
		return fmt.Errorf("dense: aggregator snapshot: %w", err)
	}
	if len(payload) != want {
		return fmt.Errorf("dense: aggregator snapshot: got %d bytes, must be %d", len(payload), want)
	}
	reports := int64(binary.LittleEndian.Uint64(payload))
	if reports < 0 {
		return fmt.Errorf("dense: aggregator snapshot: reports: got %d, must be at least 0", reports)
	}
	a.reports = reports
	for i, values := range [][]float64{a.sum, a.squares} {
		for j := range values {
			at := 8 + 8*(i*len(values)+j)
			values[j] = math.Float64frombits(binary.LittleEndian.Uint64(payload[at:]))
		}
	}
	return nil
}
