package tiers

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// aggregator holds one aggregator per tier.
type aggregator struct {
	mechanism *mechanism
	tiers     []fl.Aggregator
	reports   []int64
}

var _ fl.BatchAdder = (*aggregator)(nil)

func (m *mechanism) newAggregator() *aggregator {
	a := &aggregator{mechanism: m, reports: make([]int64, len(m.tiers))}
	for _, tier := range m.tiers {
		a.tiers = append(a.tiers, tier.NewAggregator())
	}
	return a
}

func (a *aggregator) total() (sum int64) {
	for _, n := range a.reports {
		sum += n
	}
	return sum
}

func (a *aggregator) Add(report []byte) error {
	tier, rest, err := a.mechanism.split(report)
	if err == nil {
		err = a.mechanism.round.CheckRoom(a.total(), 1)
	}
	if err == nil {
		err = a.tiers[tier].Add(rest)
	}
	if err != nil {
		return a.mechanism.round.Wrap("add", err)
	}
	a.reports[tier]++
	return nil
}

// split returns the tier of a report and the base mechanism's report.
func (m *mechanism) split(report []byte) (tier int, rest []byte, err error) {
	if len(report) == 0 {
		return 0, nil, count.BadReport("length", 0, "must be at least 1 byte, the tier")
	}
	if tier = int(report[0]); tier >= len(m.tiers) {
		return 0, nil, count.BadReport("tier", tier, "must be below %d", len(m.tiers))
	}
	return tier, report[1:], nil
}

// AddBatch implements fl.BatchAdder.
func (a *aggregator) AddBatch(reports [][]byte) error {
	byTier, index, more := make([][][]byte, len(a.tiers)), make([][]int, len(a.tiers)), make([]int64, len(a.tiers))
	refuse := func(i int, err error) error {
		return &fl.BatchError{Index: i, Err: a.mechanism.round.Wrap("add", err)}
	}
	for i, report := range reports {
		tier, rest, err := a.mechanism.split(report)
		if err != nil {
			return refuse(i, err)
		}
		byTier[tier], index[tier] = append(byTier[tier], rest), append(index[tier], i)
		more[tier]++
	}
	return a.grow("add", more, func(tier int, to fl.Aggregator) error {
		err := fl.AddBatch(a.mechanism.tiers[tier], to, byTier[tier])
		if bad, ok := errors.AsType[*fl.BatchError](err); ok {
			return refuse(index[tier][bad.Index], bad.Err)
		}
		return err
	})
}

func (a *aggregator) Merge(other fl.Aggregator) error {
	var round *count.Round
	o, ok := other.(*aggregator)
	if ok {
		round = o.mechanism.round
	}
	if err := a.mechanism.round.CheckSame(round); err != nil {
		return a.mechanism.round.Wrap("merge", err)
	}
	return a.grow("merge", o.reports, func(tier int, to fl.Aggregator) error {
		return to.Merge(o.tiers[tier])
	})
}

// grow adds reports to the tiers, more[i] of them to tier i, or to none of them: add gets a
// copy of each tier that grows, and the copies replace the tiers when all have grown.
func (a *aggregator) grow(what string, more []int64, add func(tier int, to fl.Aggregator) error) error {
	grown := aggregator{tiers: slices.Clone(a.tiers), reports: slices.Clone(a.reports)}
	for i, n := range more {
		if n == 0 {
			continue
		}
		grown.tiers[i] = a.mechanism.tiers[i].NewAggregator()
		if err := cmp.Or(a.mechanism.round.CheckRoom(grown.total(), n), grown.tiers[i].Merge(a.tiers[i])); err != nil {
			return a.mechanism.round.Wrap(what, err)
		}
		if err := add(i, grown.tiers[i]); err != nil {
			return err
		}
		grown.reports[i] += n
	}
	a.tiers, a.reports = grown.tiers, grown.reports
	return nil
}

// meanVariance is a mechanism that knows the variance of the mean of a number of reports: per
// coordinate, in squared units of Scale. Weights that follow from it depend on no report.
type meanVariance interface{ MeanVariance(reports int64) float64 }

// Estimate implements fl.Aggregator: the combination of the tiers' means.
func (a *aggregator) Estimate() (*fl.Estimate, error) {
	total := a.total()
	if err := a.mechanism.round.CheckReports(total); err != nil {
		return nil, a.mechanism.round.Wrap("estimate", err)
	}
	means := make([]*fl.Estimate, len(a.tiers))
	groups := make([]Group, len(a.tiers))
	for i, n := range a.reports {
		groups[i] = Group{Share: float64(n) / float64(total), Variance: math.Inf(1)}
		if n == 0 {
			continue
		}
		mean, err := a.tiers[i].Estimate()
		if err != nil {
			return nil, a.mechanism.round.Wrap("estimate", err)
		}
		se := mean.Mean().StdErr
		if len(se) == 0 {
			return nil, a.mechanism.round.Wrap("estimate", fl.Invalid(ParamBase, mean.Mechanism, "must estimate standard errors"))
		}
		means[i] = mean
		if exact, ok := a.mechanism.tiers[i].(meanVariance); ok {
			groups[i].Variance = exact.MeanVariance(n)
			continue
		}
		// In units of Scale, so that squares neither vanish nor overflow.
		groups[i].Variance = 0
		for _, v := range se {
			v /= a.mechanism.round.Scale
			groups[i].Variance += v * v / float64(len(se))
		}
	}
	c, err := Combine(groups, a.mechanism.radius)
	if err != nil {
		return nil, a.mechanism.round.Wrap("estimate", err)
	}
	return a.combine(means, c.Weights, total), nil
}

func (a *aggregator) combine(means []*fl.Estimate, weights []float64, total int64) *fl.Estimate {
	dim := a.mechanism.round.Dim
	combined := fl.Series{Value: make([]float64, dim), StdErr: make([]float64, dim)}
	e := fl.NewEstimate(a.mechanism.round.Round, a.mechanism.Guarantee(), total, combined)
	for i, mean := range means {
		promised := a.mechanism.tiers[i].Guarantee()
		e.Tiers = append(e.Tiers, fl.TierEstimate{Guarantee: promised, Reports: a.reports[i], Weight: weights[i]})
		if mean == nil {
			continue
		}
		e.Guarantee = promised // the tiers' ε increase
		e.NoiseNorm = math.Hypot(e.NoiseNorm, weights[i]*mean.NoiseNorm)
		e.Suspects = append(e.Suspects, mean.Suspects...)
		own := mean.Mean()
		for j, v := range own.Value {
			combined.Value[j] += weights[i] * v
			combined.StdErr[j] = math.Hypot(combined.StdErr[j], weights[i]*own.StdErr[j])
		}
	}
	slices.Sort(e.Suspects)
	e.Suspects = slices.Compact(e.Suspects)
	return e
}

// MarshalBinary implements fl.Aggregator: for each tier the number of reports and the
// length of its snapshot as uvarints, and the snapshot.
func (a *aggregator) MarshalBinary() ([]byte, error) {
	var payload []byte
	for i, tier := range a.tiers {
		part, err := tier.MarshalBinary()
		if err != nil {
			return nil, a.mechanism.round.Wrap("write snapshot", err)
		}
		payload = binary.AppendUvarint(payload, uint64(a.reports[i]))
		payload = append(binary.AppendUvarint(payload, uint64(len(part))), part...)
	}
	return a.mechanism.round.Snapshot(payload)
}

// maxSnapshot bounds the decompressed form of a snapshot.
const maxSnapshot = 1 << 30

// UnmarshalBinary implements fl.Aggregator. On an error the aggregator stays as it was.
func (a *aggregator) UnmarshalBinary(data []byte) error {
	round := a.mechanism.round
	p, err := round.Payload(data, maxSnapshot)
	if err != nil {
		return err
	}
	restored := a.mechanism.newAggregator()
	for i, tier := range restored.tiers {
		restored.reports[i] = p.Reports()
		part := p.Part()
		if !p.OK() {
			break
		}
		if err := cmp.Or(round.CheckRoom(0, restored.total()), tier.UnmarshalBinary(part)); err != nil {
			return round.Wrap("read snapshot", err)
		}
	}
	if err := round.Finish(p); err != nil {
		return err
	}
	a.tiers, a.reports = restored.tiers, restored.reports
	return nil
}
