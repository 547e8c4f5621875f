package tiers

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hetero"
	"github.com/hushgrad/hushgrad/internal/snapshot"
)

// aggregator holds one aggregator per tier.
type aggregator struct {
	mechanism *mechanism
	tiers     []fl.Aggregator
	reports   []int64
}

var _ fl.BatchAdder = (*aggregator)(nil)

func (a *aggregator) Add(report []byte) error {
	tier, rest, err := a.split(report)
	if err != nil {
		return err
	}
	if err := a.tiers[tier].Add(rest); err != nil {
		return err
	}
	a.reports[tier]++
	return nil
}

func (a *aggregator) split(report []byte) (tier int, rest []byte, err error) {
	if len(report) == 0 || int(report[0]) >= len(a.tiers) {
		return 0, nil, fmt.Errorf("tiers: %w: tier: must be the first byte, below %d", fl.ErrBadReport, len(a.tiers))
	}
	return int(report[0]), report[1:], nil
}

// AddBatch implements fl.BatchAdder. The reports are counted apart and merged when
// all of them are good.
func (a *aggregator) AddBatch(reports [][]byte) error {
	byTier, index := make([][][]byte, len(a.tiers)), make([][]int, len(a.tiers))
	for i, report := range reports {
		tier, rest, err := a.split(report)
		if err != nil {
			return &fl.BatchError{Index: i, Err: err}
		}
		byTier[tier], index[tier] = append(byTier[tier], rest), append(index[tier], i)
	}
	batch := a.mechanism.NewAggregator().(*aggregator)
	for tier, mine := range byTier {
		for i, report := range mine {
			if err := batch.tiers[tier].Add(report); err != nil {
				return &fl.BatchError{Index: index[tier][i], Err: err}
			}
		}
		batch.reports[tier] = int64(len(mine))
	}
	return a.Merge(batch)
}

func (a *aggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*aggregator)
	if !ok || o.mechanism.digest != a.mechanism.digest {
		return fmt.Errorf("tiers: merge: the aggregators belong to different rounds")
	}
	for i := range a.tiers {
		if err := a.tiers[i].Merge(o.tiers[i]); err != nil {
			return err
		}
		a.reports[i] += o.reports[i]
	}
	return nil
}

// Estimate implements fl.Aggregator: the combination of the tiers' means.
func (a *aggregator) Estimate() (*fl.Estimate, error) {
	var total int64
	for _, n := range a.reports {
		total += n
	}
	if total == 0 {
		return nil, fmt.Errorf("tiers: estimate: %w", fl.ErrNoReports)
	}
	means := make([]*fl.Estimate, len(a.tiers))
	groups := make([]hetero.Tier, len(a.tiers))
	for i, n := range a.reports {
		groups[i] = hetero.Tier{Share: float64(n) / float64(total), Variance: math.Inf(1)}
		if n == 0 {
			continue
		}
		mean, err := a.tiers[i].Estimate()
		if err != nil {
			return nil, err
		}
		means[i] = mean
		groups[i].Variance = 0
		for _, se := range mean.StdErr {
			groups[i].Variance += se * se / float64(len(mean.StdErr))
		}
	}
	c, err := hetero.Combine(groups, a.mechanism.radius)
	if err != nil {
		return nil, err
	}
	return a.combine(means, c.Weights, total), nil
}

func (a *aggregator) combine(means []*fl.Estimate, weights []float64, total int64) *fl.Estimate {
	dim := a.mechanism.round.Dim
	e := &fl.Estimate{
		Series:  fl.Series{Value: make([]float64, dim), StdErr: make([]float64, dim)},
		Reports: total, Mechanism: Name, Guarantee: a.mechanism.Guarantee(),
	}
	for i, mean := range means {
		promised := a.mechanism.tiers[i].Guarantee()
		e.Tiers = append(e.Tiers, fl.TierEstimate{Guarantee: promised, Reports: a.reports[i], Weight: weights[i]})
		if mean == nil {
			continue
		}
		e.Guarantee = promised // the tiers' ε increase
		for j, v := range mean.Value {
			e.Value[j] += weights[i] * v
			e.StdErr[j] += weights[i] * weights[i] * mean.StdErr[j] * mean.StdErr[j]
		}
	}
	for j, v := range e.StdErr {
		e.StdErr[j] = math.Sqrt(v)
	}
	return e
}

// MarshalBinary implements fl.Aggregator: for each tier the number of reports and the
// length of its snapshot as uvarints, and the snapshot.
func (a *aggregator) MarshalBinary() ([]byte, error) {
	var payload []byte
	for i, tier := range a.tiers {
		part, err := tier.MarshalBinary()
		if err != nil {
			return nil, err
		}
		payload = binary.AppendUvarint(payload, uint64(a.reports[i]))
		payload = append(binary.AppendUvarint(payload, uint64(len(part))), part...)
	}
	return snapshot.Encode(a.mechanism.digest, payload)
}

// maxSnapshot bounds the decompressed form of a snapshot.
const maxSnapshot = 1 << 30

// UnmarshalBinary implements fl.Aggregator. On error the state is unchanged.
func (a *aggregator) UnmarshalBinary(data []byte) error {
	payload, err := snapshot.Decode(a.mechanism.digest, maxSnapshot, data)
	if err != nil {
		return fmt.Errorf("tiers: aggregator snapshot: %w", err)
	}
	restored := a.mechanism.NewAggregator().(*aggregator)
	for i, tier := range restored.tiers {
		reports, n := binary.Uvarint(payload)
		if n <= 0 || reports > math.MaxInt64 {
			return fmt.Errorf("tiers: aggregator snapshot: tier %d: broken number of reports", i)
		}
		payload = payload[n:]
		size, n := binary.Uvarint(payload)
		if n <= 0 || size > uint64(len(payload)-n) {
			return fmt.Errorf("tiers: aggregator snapshot: tier %d: broken length", i)
		}
		payload = payload[n:]
		if err := tier.UnmarshalBinary(payload[:size]); err != nil {
			return fmt.Errorf("tiers: aggregator snapshot: tier %d: %w", i, err)
		}
		restored.reports[i], payload = int64(reports), payload[size:]
	}
	if len(payload) > 0 {
		return fmt.Errorf("tiers: aggregator snapshot: got %d bytes after the last tier, must be 0", len(payload))
	}
	a.tiers, a.reports = restored.tiers, restored.reports
	return nil
}
