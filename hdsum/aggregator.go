package hdsum

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/snapshot"
)

// aggregator implements fl.Aggregator: it is the shuffler's side, which merges
// the clients' messages, and then the analyzer. It holds one integer per instance.
type aggregator struct {
	mechanism *mechanism
	sums      *Sums
	reports   int64
}

var _ fl.BatchAdder = (*aggregator)(nil)

func (a *aggregator) Add(report []byte) error {
	messages, err := a.read(report)
	if err != nil {
		return err
	}
	a.count(messages)
	return nil
}

func (a *aggregator) read(report []byte) (Multiset, error) {
	messages, err := a.mechanism.codec.parse(report)
	if err != nil {
		return nil, err
	}
	return messages, a.sums.layout.check(messages)
}

func (a *aggregator) count(messages Multiset) {
	a.sums.add(messages)
	a.reports++
}

// AddBatch implements fl.BatchAdder: it reads everything before it counts
// anything.
func (a *aggregator) AddBatch(reports [][]byte) error {
	batch := make([]Multiset, len(reports))
	for i, report := range reports {
		var err error
		if batch[i], err = a.read(report); err != nil {
			return &fl.BatchError{Index: i, Err: err}
		}
	}
	for _, messages := range batch {
		a.count(messages)
	}
	return nil
}

func (a *aggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*aggregator)
	if !ok || o.mechanism.digest != a.mechanism.digest {
		return fmt.Errorf("sumdp: merge: %w", fl.Invalid("aggregator", "one of another round", "must belong to the same round"))
	}
	a.sums.merge(o.sums.values)
	a.reports += o.reports
	return nil
}

// Estimate implements fl.Aggregator. The standard errors are those of the noise,
// and an upper bound for the rounding. O(instances + d' log d').
func (a *aggregator) Estimate() (*fl.Estimate, error) {
	// Fewer reports than the noise was spread over would reveal too much.
	if err := a.mechanism.round.CheckReports(a.reports); err != nil {
		return nil, fmt.Errorf("sumdp: estimate: %w", err)
	}
	if most := capacity(a.mechanism.round); a.reports > int64(most) {
		return nil, fmt.Errorf("sumdp: estimate: %w", fl.Invalid("reports", a.reports, "must be at most %d", most))
	}
	sum, err := a.mechanism.sum.Analyze(a.sums, a.reports)
	if err != nil {
		return nil, err
	}
	n := float64(a.reports)
	mean := fl.Series{Value: sum.Value, StdErr: make([]float64, len(sum.Value))}
	for i := range mean.Value {
		mean.Value[i] /= n
		mean.StdErr[i] = sum.StdErr / n
	}
	return fl.NewEstimate(a.mechanism.round, a.mechanism.Guarantee(), a.reports, mean), nil
}

// MarshalBinary implements fl.Aggregator: the number of reports as an uvarint and
// the sum of each instance as a varint.
func (a *aggregator) MarshalBinary() ([]byte, error) {
	payload := binary.AppendUvarint(make([]byte, 0, 8+4*len(a.sums.values)), uint64(a.reports))
	for _, v := range a.sums.values {
		payload = binary.AppendVarint(payload, v)
	}
	return snapshot.Encode(a.mechanism.digest, payload)
}

// UnmarshalBinary implements fl.Aggregator. On error the state is unchanged.
func (a *aggregator) UnmarshalBinary(data []byte) error {
	payload, err := snapshot.Decode(a.mechanism.digest, (1+len(a.sums.values))*binary.MaxVarintLen64, data)
	if err != nil {
		return badSnapshot(err)
	}
	reports, used := binary.Uvarint(payload)
	if used <= 0 || reports > math.MaxInt64 {
		return badSnapshot(fl.Invalid("reports", reports, "must be a varint of at most 63 bits"))
	}
	payload = payload[used:]
	sums := a.mechanism.sum.NewSums()
	for i := range sums.values {
		v, used := binary.Varint(payload)
		if used <= 0 {
			return badSnapshot(fl.Invalid("sums", i, "must be a varint for each of %d instances", len(sums.values)))
		}
		payload = payload[used:]
		sums.values[i] = v
	}
	if len(payload) > 0 {
		return badSnapshot(fl.Invalid("rest", len(payload), "must be 0 bytes after the last sum"))
	}
	if err := sums.check(); err != nil {
		return badSnapshot(err)
	}
	a.sums, a.reports = sums, int64(reports)
	return nil
}

func badSnapshot(err error) error { return fmt.Errorf("sumdp: aggregator snapshot: %w", err) }
