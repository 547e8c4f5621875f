package mechanisms

import (
	"encoding/binary"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/exact"
)

// votes is what example-dense and example-item share: a round whose reports add votes of +1 and −1 to its
// coordinates, and how votes become a mean.
type votes struct {
	round    *count.Round
	weights  exact.Weights
	gain     float64 // a coordinate of the mean, in units of Scale, for one vote per report
	variance float64 // of a coordinate of one report's estimate, where the gradient is 0
}

// open checks what all local mechanisms without parameters ask of a round.
func open(r fl.Round) (*count.Round, error) {
	if err := r.CheckLocal(); err != nil {
		return nil, err
	}
	if err := r.Params.Only(); err != nil {
		return nil, err
	}
	return count.NewRound(r)
}

func (v *votes) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: v.round.Epsilon, Relation: fl.ReplaceOne}
}

// check refuses what Encode must refuse.
func (v *votes) check(grad []float64) error {
	if len(grad) != v.round.Dim {
		return v.round.Wrap("encode", fl.Invalid("gradient", len(grad), "must have dim = %d coordinates", v.round.Dim))
	}
	for j, g := range grad {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return v.round.Wrap("encode", fl.Invalid("gradient", g, "must be finite, coordinate %d is not", j))
		}
	}
	return nil
}

// sign rounds a coordinate to +1 or −1 at random, so that the mean is the clipped coordinate, up to 2^-32.
func (v *votes) sign(g float64, choose exact.Chooser) bool {
	share := min(max(g/v.round.Scale, -1), 1)
	return choose.Uniform(1<<32) < uint64((1+share)/2*(1<<32))
}

// tally is the count.State of both.
type tally struct {
	votes *votes
	read  func(report []byte) ([]int8, error) // the votes of a report, one per coordinate
	sums  []int64
}

func (v *votes) aggregator(read func([]byte) ([]int8, error)) fl.Aggregator {
	return count.New(v.round, func() *tally { return &tally{v, read, make([]int64, v.round.Dim)} })
}

func (t *tally) Read(report []byte) ([]int8, error) { return t.read(report) }

func (t *tally) Count(report []int8) {
	for j, vote := range report {
		t.sums[j] += int64(vote)
	}
}

func (t *tally) Merge(other *tally) {
	for j, sum := range other.sums {
		t.sums[j] += sum
	}
}

func (t *tally) Estimate(reports int64) (*fl.Estimate, error) {
	n, scale := float64(reports), t.votes.round.Scale
	var mean fl.Series
	for _, sum := range t.sums {
		mean.Value = append(mean.Value, scale*t.votes.gain*float64(sum)/n)
		mean.StdErr = append(mean.StdErr, scale*math.Sqrt(t.votes.variance/n))
	}
	return fl.NewEstimate(t.votes.round.Round, t.votes.Guarantee(), reports, mean), nil
}

// Append writes the number of reports and the sums.
func (t *tally) Append(payload []byte, reports int64) []byte {
	payload = binary.LittleEndian.AppendUint64(payload, uint64(reports))
	for _, sum := range t.sums {
		payload = binary.AppendVarint(payload, sum)
	}
	return payload
}

func (t *tally) MaxBytes() int { return 8 + binary.MaxVarintLen64*len(t.sums) }

func (t *tally) Restore(p *count.Payload) int64 {
	reports := p.WordReports()
	for j := range t.sums {
		t.sums[j] = p.Varint(-reports, reports)
	}
	return reports
}
