package rivals

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/exact"
)

// Iteration is a real round of PrivKVM after the first one. It estimates the conditional means once
// more, with less bias and more noise. It does not estimate frequencies or unconditional means, and
// so it is no fl.Mechanism. It is immutable and safe for concurrent use.
type Iteration struct {
	round   *count.Round // the first one
	epsilon float64
	means   []float64 // in [−1, 1]
	value   [2]uint64 // weights of the lie and the truth
	gap     float64
	codec   privKVCodec
}

// NewIteration returns iteration number, in [2, c], of the PrivKVM whose first round is described by first,
// with parameter rounds = c. Clients and the server make it from the same published means: the means of
// the iteration before, one per key, in units of the gradient and within ±first.Scale. For the second
// iteration the means are the column fl.ColumnConditional of the first round with virtual = 0.
// NewIteration returns a *fl.ParamError (wrapped) for other arguments. O(dim).
func NewIteration(first fl.Round, number int, published []float64) (*Iteration, error) {
	i, err := newIteration(first, number, published)
	if err != nil {
		return nil, fmt.Errorf("privkv: iteration: %w", err)
	}
	return i, nil
}

func newIteration(first fl.Round, number int, published []float64) (*Iteration, error) {
	if first.Mechanism != PrivKVM {
		return nil, fl.Invalid("mechanism", first.Mechanism, "must be %s", PrivKVM)
	}
	first, opened, err := fl.Complete(first)
	if err != nil {
		return nil, err
	}
	m := opened.(*privKVMechanism)
	if number < 2 || number > m.rounds {
		return nil, fl.Invalid("number", number, "must be in [2, %s], which is %d", ParamRounds, m.rounds)
	}
	if len(published) != first.Dim {
		return nil, fl.Invalid("published", len(published), "must be dim = %d means", first.Dim)
	}
	i := &Iteration{round: m.round, epsilon: first.Epsilon / 2 / float64(m.rounds), codec: newPrivKVCodec(first.Dim, 2)}
	for j, mean := range published {
		if !(math.Abs(mean) <= first.Scale) {
			return nil, fl.Invalid(fmt.Sprintf("published[%d]", j), mean, "must be within ±scale, which is %g", first.Scale)
		}
		i.means = append(i.means, mean/first.Scale)
	}
	weights, err := exact.NewWeights(i.epsilon, 1, 2)
	if err != nil {
		return nil, err
	}
	i.value = [2]uint64{weights.Low, weights.High}
	_, _, i.gap = privKVMoments(weights)
	return i, nil
}

// Guarantee is what one report of this iteration adds to the others of its sender: ε/(2c). All c reports
// of a client together are ε-LDP, with the ε of the first round. Any two sets of pairs are neighbours.
func (i *Iteration) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: i.epsilon, Relation: fl.ReplaceOne}
}

// EncodeKeyValues appends a report of a client with these pairs, which are as for the first
// round. It returns a *fl.ParamError (wrapped) for others. O(pairs), to check them.
func (i *Iteration) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	return i.encodeChoosing(dst, pairs, exact.Rand{Rand: rng})
}

// encodeChoosing is EncodeKeyValues with every choice taken by choose, so that the law of a report
// can be enumerated.
func (i *Iteration) encodeChoosing(dst []byte, pairs []fl.KeyValue, choose exact.Chooser) ([]byte, error) {
	if err := fl.CheckKeyValues(pairs, i.round.Dim); err != nil {
		return dst, i.round.Wrap("iteration: encode", err)
	}
	key, value, held := sampled(pairs, i.round.Dim, choose)
	if !held {
		value = i.means[key]
	}
	lie := 1 - choose.Weighted(i.value[:])
	return i.codec.append(dst, entry{key, uint32(sign(value, choose) ^ lie)}), nil
}

// IterationAggregator counts the reports of an iteration.
type IterationAggregator struct {
	iteration *Iteration
	reports   int64
	keys      []tally
}

// NewAggregator returns an aggregator without reports.
func (i *Iteration) NewAggregator() *IterationAggregator {
	return &IterationAggregator{iteration: i, keys: make([]tally, i.round.Dim)}
}

// Add counts a report. It returns an error that wraps fl.ErrBadReport for bytes that are none, and a
// *fl.ParamError for more than fl.MaxReports. It changes nothing then.
func (a *IterationAggregator) Add(report []byte) error {
	e, err := a.iteration.codec.parse(report)
	if err == nil {
		err = a.iteration.round.CheckRoom(a.reports, 1)
	}
	if err != nil {
		return a.iteration.round.Wrap("iteration: add", err)
	}
	a.reports++
	a.keys[e.key].add([]uint8{plus, minus}[e.message])
	return nil
}

// AddCounts adds counts that were taken elsewhere, one PrivKVCounts per key, as if their reports had been added. Each
// report votes for plus or for minus. It returns a *fl.ParamError (wrapped), and changes nothing, for
// other counts. O(dim).
func (a *IterationAggregator) AddCounts(counts []PrivKVCounts) error {
	added, err := a.check(counts)
	if err != nil {
		return a.iteration.round.Wrap("iteration: add counts", err)
	}
	a.reports += added
	for j, c := range counts {
		a.keys[j].merge(tally{reports: c.Reports, plus: c.Plus, minus: c.Minus})
	}
	return nil
}

// check returns the number of reports behind counts.
func (a *IterationAggregator) check(counts []PrivKVCounts) (added int64, err error) {
	if len(counts) != len(a.keys) {
		return 0, fl.Invalid("counts", len(counts), "must be dim = %d entries", len(a.keys))
	}
	for j, c := range counts {
		if min(c.Reports, c.Plus, c.Minus) < 0 || c.None != 0 || int64(c.Plus)+int64(c.Minus) != int64(c.Reports) {
			return 0, fl.Invalid(fmt.Sprintf("counts[%d]", j), fmt.Sprintf("%+v", c), "must be one sign for each report")
		}
		added += int64(c.Reports)
	}
	return added, a.iteration.round.CheckRoom(a.reports, added)
}

// Means estimates the conditional mean of every key, in units of the gradient and within ±Round.Scale, to
// be published for the next iteration. In expectation it is f·m + (1−f)·m', for a key that a share f
// of the clients holds with mean m, and with the mean m' that was published before: the bias has
// shrunk by the factor 1−f. Where there are no reports the estimate is m'. Errors are as for
// fl.Aggregator.Estimate. O(dim).
func (a *IterationAggregator) Means() ([]float64, error) {
	if err := a.iteration.round.CheckReports(a.reports); err != nil {
		return nil, a.iteration.round.Wrap("iteration: means", err)
	}
	means := slices.Clone(a.iteration.means)
	for j, k := range a.keys {
		if k.reports > 0 {
			means[j] = min(max(float64(k.plus-k.minus)/(a.iteration.gap*float64(k.reports)), -1), 1)
		}
		means[j] *= a.iteration.round.Scale
	}
	return means, nil
}
