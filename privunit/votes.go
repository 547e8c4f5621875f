package privunit

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/sparse"
)

// votes is the State of an aggregator. It counts, at each rotated coordinate, the reported
// candidates with the sign −1.
type votes struct {
	mechanism *mechanism
	negative  []uint32
	waiting   []sparse.Report // fewer than fullTally, not yet in negative
}

func (m *mechanism) newVotes() *votes {
	return &votes{mechanism: m, negative: make([]uint32, m.point.PaddedDim())}
}

// Read implements count.State.
func (v *votes) Read(report []byte) (sparse.Report, error) { return v.mechanism.codec.Parse(report) }

// Count implements count.State.
func (v *votes) Count(r sparse.Report) {
	if v.waiting = append(v.waiting, r); len(v.waiting) == fullTally {
		v.mechanism.candidates.tally(v.negative, v.waiting)
		v.waiting = v.waiting[:0]
	}
}

// Merge implements count.State.
func (v *votes) Merge(other *votes) {
	for t, n := range other.all() {
		v.negative[t] += n
	}
}

// all returns the counts of all reports, those that wait included.
func (v *votes) all() []uint32 {
	counts := slices.Clone(v.negative)
	v.mechanism.candidates.tally(counts, v.waiting)
	return counts
}

// seeds is the number of seeds. What a round's candidates are off by on average over all of them does not
// fall with the number of reports: it is as if that many reports had been drawn.
const seeds = 1 << 32

// Estimate implements count.State. A coordinate with the share a of a gradient's norm has a second moment of
// (1 + (square − 1)·a²)/slope² in a report, in squared units of Scale, however short the gradient is. Its variance is at most that. The squares of the shares add
// up to 1, and standard errors have their mean 1/d: one coordinate's error is larger where all gradients have most of their norm there. What does not fall with the
// number of reports is taken as if all clients held the same gradient.
func (v *votes) Estimate(reports int64) (*fl.Estimate, error) {
	m, n := v.mechanism, float64(reports)
	sums := make([]float64, len(v.negative))
	for t, negative := range v.all() {
		sums[t] = n - 2*float64(negative)
	}
	values := sums[:m.rotation.Dim()]
	if err := m.rotation.Inverse(values, sums); err != nil {
		return nil, err
	}
	perVote := math.Sqrt(float64(len(sums))) / (m.law.slope * n)
	squared := 1 / (m.law.slope * m.law.slope)
	variance := squared * (1 + max(0, m.law.square-1)/float64(m.point.Dim)) * (1/n + 1./seeds)
	se := m.round.Scale * math.Sqrt(variance+m.law.bend)
	mean := fl.Series{Value: values[:m.point.Dim:m.point.Dim], StdErr: make([]float64, m.point.Dim)}
	for j := range mean.Value {
		mean.Value[j] *= perVote * m.round.Scale
		mean.StdErr[j] = se
	}
	return fl.NewEstimate(m.round.Round, m.Guarantee(), reports, mean), nil
}

// Append implements count.State: the number of reports and then the counts, as uvarints. They do not depend
// on how the reports were split or ordered.
func (v *votes) Append(payload []byte, reports int64) []byte {
	payload = binary.AppendUvarint(slices.Grow(payload, 8+4*len(v.negative)), uint64(reports))
	for _, n := range v.all() {
		payload = binary.AppendUvarint(payload, uint64(n))
	}
	return payload
}

// MaxBytes implements count.State.
func (v *votes) MaxBytes() int { return (1 + len(v.negative)) * binary.MaxVarintLen64 }

// Restore implements count.State.
func (v *votes) Restore(p *count.Payload) int64 {
	reports := p.Reports()
	for t := range v.negative {
		v.negative[t] = uint32(p.Uvarint(uint64(reports)))
	}
	return reports
}
