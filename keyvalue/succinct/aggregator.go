package succinct

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/hushgrad/hushgrad/fl"
)

// aggregator implements fl.KeyValueAggregator.
type aggregator struct {
	mechanism *mechanism
	sums      []int64 // of Z_j·x; at most 2^31·10^9 < 2^61 in magnitude
	squares   uint128 // sum of x²
	reports   int64
}

var (
	_ fl.KeyValueAggregator = (*aggregator)(nil)
	_ fl.BatchAdder         = (*aggregator)(nil)
)

type uint128 struct{ hi, lo uint64 }

func (u uint128) plus(v uint128) uint128 {
	lo, carry := bits.Add64(u.lo, v.lo, 0)
	return uint128{hi: u.hi + v.hi + carry, lo: lo}
}

func (u uint128) float() float64 { return math.Ldexp(float64(u.hi), 64) + float64(u.lo) }

// makeRoom refuses more reports than the sums hold.
func (a *aggregator) makeRoom(n int64) error {
	if a.reports+n > fl.MaxReports {
		return fmt.Errorf("succinct: %w", fl.Invalid("reports", a.reports+n, "an aggregator counts at most %d", fl.MaxReports))
	}
	return nil
}

func (a *aggregator) count(seed uint32, x int64) {
	h := a.mechanism.hash
	start := h.start(seed)
	for j := range a.sums {
		a.sums[j] += x * h.sign(start, uint32(j))
	}
	a.squares = a.squares.plus(uint128{lo: uint64(x * x)})
	a.reports++
}

// Add implements fl.Aggregator. O(dim).
func (a *aggregator) Add(report []byte) error {
	seed, x, err := a.mechanism.codec.parse(report)
	if err != nil {
		return fmt.Errorf("succinct: %w", err)
	}
	if err := a.makeRoom(1); err != nil {
		return err
	}
	a.count(seed, x)
	return nil
}

// AddBatch implements fl.BatchAdder: it parses everything before it counts anything.
func (a *aggregator) AddBatch(reports [][]byte) error {
	for i, report := range reports {
		if _, _, err := a.mechanism.codec.parse(report); err != nil {
			return &fl.BatchError{Index: i, Err: fmt.Errorf("succinct: %w", err)}
		}
	}
	if err := a.makeRoom(int64(len(reports))); err != nil {
		return err
	}
	for _, report := range reports {
		seed, x, err := a.mechanism.codec.parse(report)
		if err != nil {
			return fmt.Errorf("succinct: %w", err)
		}
		a.count(seed, x)
	}
	return nil
}

func (a *aggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*aggregator)
	if !ok || o.mechanism.digest != a.mechanism.digest {
		return fmt.Errorf("succinct: merge: the aggregators belong to different rounds")
	}
	if err := a.makeRoom(o.reports); err != nil {
		return err
	}
	for j, v := range o.sums {
		a.sums[j] += v
	}
	a.squares = a.squares.plus(o.squares)
	a.reports += o.reports
	return nil
}

// mean estimates the unconditional means in units of 1/scale. The variance of one
// report's estimate is at most E[x²]/share, plus 1/share − 1 because the reports that
// know a key have one entry more than the average: E[x²] is estimated, and is
// at least the variance of the noise.
func (a *aggregator) mean(scale float64) (*fl.Series, error) {
	if a.reports == 0 {
		return nil, fmt.Errorf("succinct: estimate: %w", fl.ErrNoReports)
	}
	n, share := float64(a.reports), a.mechanism.hash.share()
	square := max(a.squares.float()/n, a.mechanism.noise.Variance())
	stderr := scale * math.Sqrt((square+1-share)/share/n)
	s := &fl.Series{Value: make([]float64, len(a.sums)), StdErr: make([]float64, len(a.sums))}
	for j, sum := range a.sums {
		s.Value[j], s.StdErr[j] = scale*(float64(sum)/n/share), stderr
	}
	return s, nil
}

// Estimate implements fl.Aggregator. O(dim).
func (a *aggregator) Estimate() (*fl.Estimate, error) {
	mean, err := a.mean(a.mechanism.round.Scale)
	if err != nil {
		return nil, err
	}
	return &fl.Estimate{Series: *mean, Reports: a.reports, Mechanism: Name, Guarantee: a.mechanism.Guarantee()}, nil
}

// KeyValues implements fl.KeyValueAggregator: reports tell the means only, so the
// frequencies and the conditional means are empty. O(dim).
func (a *aggregator) KeyValues() (*fl.KeyValueEstimate, error) {
	mean, err := a.mean(1)
	if err != nil {
		return nil, err
	}
	return &fl.KeyValueEstimate{Mean: *mean, Reports: a.reports, Mechanism: Name, Guarantee: a.mechanism.Guarantee()}, nil
}
