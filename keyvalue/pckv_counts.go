package keyvalue

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// counts is the State of an aggregator: per key, the reports that show it with + and with −.
type counts struct {
	mechanism   *pckvMechanism
	plus, minus []uint32
}

type pckvAggregator = count.Aggregator[[]byte, *counts]

func (k *counts) Read(report []byte) ([]byte, error) {
	return report, k.mechanism.read(report, nil)
}

// Count implements count.State. Read has found no fault in the report.
func (k *counts) Count(report []byte) {
	_ = k.mechanism.read(report, func(key int, minus bool) {
		if minus {
			k.minus[key]++
		} else {
			k.plus[key]++
		}
	})
}

func (k *counts) Merge(other *counts) {
	for j := range k.plus {
		k.plus[j] += other.plus[j]
		k.minus[j] += other.minus[j]
	}
}

// Estimate implements count.State by Algorithm 4. The unconditional mean is formed
// directly, as ℓ(n1−n2)/(n·a(2p−1)), not from frequency and conditional mean. The
// conditional means have the algorithm's corrections, frequencies and means do not.
// Standard errors are for clients drawn independently, with the estimates plugged in.
func (k *counts) Estimate(reports int64) (*fl.Estimate, error) {
	m := k.mechanism
	dim := m.round.Dim
	frequency := fl.Series{Value: make([]float64, dim), StdErr: make([]float64, dim)}
	mean := fl.Series{Value: make([]float64, dim), StdErr: make([]float64, dim)}
	conditional := fl.Series{Value: make([]float64, dim)}
	c, n, l, scale := m.channel(), float64(reports), float64(m.padding), m.round.Scale
	for j := range dim {
		plus, minus := float64(k.plus[j]), float64(k.minus[j])
		f, among := c.Estimate(m.padding, plus, minus, n)
		v := l * (plus - minus) / (n * c.Sign)

		held := min(max(f, 0), 1)
		frequency.Value[j] = f
		frequency.StdErr[j] = math.Sqrt(c.FrequencyVariance(m.padding, held, n) + held*(1-held)/n)
		average := 0.0 // of the values; unknown if no client seems to hold the key, and 0 errs wide
		if held > 0 {
			average = min(math.Abs(v)/held, 1)
		}
		mean.Value[j] = scale * v
		mean.StdErr[j] = scale * math.Sqrt(c.MeanVariance(m.padding, held, average, n))
		conditional.Value[j] = scale * among
	}
	return Estimate(m.round.Round, m.Guarantee(), reports, mean, frequency, conditional), nil
}

// Append implements count.State: the number of reports, the counts of + and the counts of −,
// all as uvarints. They are sums of integers, so the bytes do not depend on how the reports
// were split or ordered.
func (k *counts) Append(payload []byte, reports int64) []byte {
	payload = binary.AppendUvarint(slices.Grow(payload, 8+4*len(k.plus)), uint64(reports))
	for _, counts := range [][]uint32{k.plus, k.minus} {
		for _, c := range counts {
			payload = binary.AppendUvarint(payload, uint64(c))
		}
	}
	return payload
}

func (k *counts) MaxBytes() int { return (1 + 2*len(k.plus)) * binary.MaxVarintLen32 }

// Restore implements count.State. No report shows a key twice.
func (k *counts) Restore(p *count.Payload) int64 {
	reports := p.Reports()
	for j := range k.plus {
		k.plus[j] = uint32(p.Uvarint(uint64(reports)))
	}
	for j := range k.minus {
		k.minus[j] = uint32(p.Uvarint(uint64(reports) - uint64(k.plus[j])))
	}
	return reports
}

// PCKVCounts is what a number of reports show: per key, how many show it with + and how many
// with −. Both slices have dim entries.
type PCKVCounts struct {
	Reports     int64
	Plus, Minus []uint32
}

// AddPCKVCounts adds counts that were taken elsewhere to an aggregator of PCKVUE, PCKVGRR or PCKVAGRR, as if
// their reports had been added to it: of a server that keeps its own counters, or of a
// simulation that draws the counts from their law. It returns a *fl.ParamError
// (wrapped), and changes nothing, when agg counts for another mechanism, when the slices do not
// have dim entries, and when that number of reports cannot show the counts: none shows a
// key twice, and reports of PCKV-GRR show one key at most. O(dim).
func AddPCKVCounts(agg fl.Aggregator, c PCKVCounts) error {
	a, ok := agg.(*pckvAggregator)
	if !ok {
		return fmt.Errorf("pckv: add counts: %w", fl.Invalid("agg", fmt.Sprintf("%T", agg), "must be an aggregator of %s, %s or %s", PCKVUE, PCKVGRR, PCKVAGRR))
	}
	if err := a.State().check(c); err != nil {
		return a.State().mechanism.round.Wrap("add counts", err)
	}
	return a.AddState(&counts{plus: c.Plus, minus: c.Minus}, c.Reports)
}

// check refuses counts that the reports of a round cannot show.
func (k *counts) check(c PCKVCounts) error {
	switch {
	case c.Reports < 0 || c.Reports > fl.MaxReports:
		return fl.Invalid("reports", c.Reports, "must be in [0, %d]", fl.MaxReports)
	case len(c.Plus) != len(k.plus):
		return fl.Invalid("plus", len(c.Plus), "must have dim = %d entries", len(k.plus))
	case len(c.Minus) != len(k.minus):
		return fl.Invalid("minus", len(c.Minus), "must have dim = %d entries", len(k.minus))
	}
	_, single := k.mechanism.pckvRandomizer.(*response)
	left := c.Reports
	for j := range c.Plus {
		shown := int64(c.Plus[j]) + int64(c.Minus[j])
		if shown > left {
			return fl.Invalid("counts", shown, "must be at most %d for key %d, of %d reports", left, j, c.Reports)
		}
		if single {
			left -= shown
		}
	}
	return nil
}
