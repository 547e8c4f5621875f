package keyvalues

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
)

// crowd is clients for which only counts are drawn. Mechanisms that perturb one pair per
// client keep a sum over clients in their aggregators, and clients in one state are alike.
type crowd interface {
	// clients is how many they are.
	clients() int
	// send draws one pair per client, uniformly from its own, and rounds its value: how
	// many send each key with + and with −. A client with fewer pairs than the padding length
	// sends a dummy with the probability that is left.
	send(padding int, rng *rand.Rand) (plus, minus []int)
	// ask draws one key per client, uniformly from all: how many clients asked about each
	// key hold it with + and with − (rounded), and how many do not.
	ask(rng *rand.Rand) (plus, minus, absent []int)
}

// simulate adds the reports of a crowd to the aggregator of a round of PCKV, PrivKV,
// PrivKVM (the first round), or KVUE: counts that have the law which the reports of the
// mechanism's encoder give them.
func simulate(r fl.Round, agg fl.Aggregator, c crowd, rng *rand.Rand) error {
	switch r.Mechanism {
	case rivals.PrivKV, rivals.PrivKVM:
		counts, err := privkvCounts(r, c, rng)
		if err != nil {
			return err
		}
		return rivals.AddPrivKVCounts(agg, counts)
	case rivals.KVUE:
		return rivals.AddPrivKVCounts(agg, kvueCounts(r, c, rng))
	}
	padding, err := r.Params.Int(keyvalue.ParamPadding)
	if err != nil {
		return err
	}
	channel, err := channelOf(rivals.Optimized, r.Mechanism, r.Epsilon, r.Dim, padding)
	if err != nil {
		return err
	}
	return keyvalue.AddPCKVCounts(agg, pckvCounts(r.Mechanism, channel, c, padding, rng))
}

// pckvCounts draws the counts of a mechanism of PCKV.
func pckvCounts(mechanism string, ch keyvalue.Channel, c crowd, padding int, rng *rand.Rand) keyvalue.PCKVCounts {
	if mechanism == keyvalue.PCKVUE {
		return unaryCounts(ch, c, padding, rng)
	}
	return responseCounts(ch, c, padding, rng)
}

// channelOf returns the channel of a mechanism of PCKV.
func channelOf(by rivals.Allocation, mechanism string, epsilon float64, dim, padding int) (keyvalue.Channel, error) {
	gain := 1
	if mechanism == keyvalue.PCKVAGRR {
		gain = padding
	}
	b, err := by.GRR(epsilon, gain)
	if mechanism == keyvalue.PCKVUE {
		return b.UE(), err
	}
	return b.GRR(dim, padding), err
}

// unaryCounts draws the counts of PCKV-UE: all positions of all reports are independent.
func unaryCounts(ch keyvalue.Channel, c crowd, padding int, rng *rand.Rand) keyvalue.PCKVCounts {
	plus, minus := c.send(padding, rng)
	out, clients := newCounts(c, len(plus)), c.clients()
	shows := ch.Background + ch.Hold
	right, wrong := (shows+ch.Sign)/2, (shows-ch.Sign)/2
	for k := range plus {
		a, b := trinomial(rng, plus[k], right, wrong)
		d, e := trinomial(rng, minus[k], wrong, right)
		f, g := trinomial(rng, clients-plus[k]-minus[k], ch.Background/2, ch.Background/2)
		out.Plus[k], out.Minus[k] = uint32(a+d+f), uint32(b+e+g)
	}
	return out
}

// responseCounts draws the counts of PCKV-GRR: a report is the pair that was sent, or
// uniform over the signed keys, dummies among them.
func responseCounts(ch keyvalue.Channel, c crowd, padding int, rng *rand.Rand) keyvalue.PCKVCounts {
	plus, minus := c.send(padding, rng)
	out, uniform := newCounts(c, len(plus)), c.clients()
	dummies := c.clients()
	for k := range plus {
		kept := [2]int{binomial(rng, plus[k], ch.Hold), binomial(rng, minus[k], ch.Hold)}
		out.Plus[k], out.Minus[k] = uint32(kept[0]), uint32(kept[1])
		uniform -= kept[0] + kept[1]
		dummies -= plus[k] + minus[k]
	}
	uniform -= binomial(rng, dummies, ch.Hold)
	signedKeys := 2 * (len(plus) + padding)
	for _, counts := range [][]uint32{out.Plus, out.Minus} {
		for k := range counts {
			here := binomial(rng, uniform, 1/float64(signedKeys))
			counts[k] += uint32(here)
			uniform -= here
			signedKeys--
		}
	}
	return out
}

func newCounts(c crowd, dim int) keyvalue.PCKVCounts {
	return keyvalue.PCKVCounts{Reports: int64(c.clients()), Plus: make([]uint32, dim), Minus: make([]uint32, dim)}
}

// privkvCounts draws the counts of PrivKV: the key is reported truly with probability p, and the sign
// with probability s.
func privkvCounts(r fl.Round, c crowd, rng *rand.Rand) ([]rivals.PrivKVCounts, error) {
	rounds := 1
	if r.Mechanism == rivals.PrivKVM {
		var err error
		if rounds, err = r.Params.Int(rivals.ParamRounds); err != nil {
			return nil, err
		}
	}
	plus, minus, absent := c.ask(rng)
	p, s := truthful(r.Epsilon/2), truthful(r.Epsilon/2/float64(rounds))
	out := make([]rivals.PrivKVCounts, r.Dim)
	for k := range out {
		a, b := trinomial(rng, plus[k], p*s, p*(1-s))
		d, e := trinomial(rng, minus[k], p*(1-s), p*s)
		f, g := trinomial(rng, absent[k], (1-p)/2, (1-p)/2)
		reports := plus[k] + minus[k] + absent[k]
		votes := [2]int{a + d + f, b + e + g}
		out[k] = rivals.PrivKVCounts{
			Reports: int32(reports), None: int32(reports - votes[0] - votes[1]),
			Plus: int32(votes[0]), Minus: int32(votes[1]),
		}
	}
	return out, nil
}

// kvueCounts draws the counts of KVUE: three bits, each reported truly with probability p.
func kvueCounts(r fl.Round, c crowd, rng *rand.Rand) []rivals.PrivKVCounts {
	plus, minus, absent := c.ask(rng)
	p := truthful(r.Epsilon / 2)
	out := make([]rivals.PrivKVCounts, r.Dim)
	for k := range out {
		reports := plus[k] + minus[k] + absent[k]
		votes := func(set int) int32 {
			return int32(binomial(rng, set, p) + binomial(rng, reports-set, 1-p))
		}
		out[k] = rivals.PrivKVCounts{Reports: int32(reports), None: votes(absent[k]), Plus: votes(plus[k]), Minus: votes(minus[k])}
	}
	return out
}

// truthful is the probability that randomized response reports one of two values truly.
func truthful(epsilon float64) float64 { return 1 / (1 + math.Exp(-epsilon)) }

// binomial draws the successes of n trials, by inversion or rejection from the exact law.
func binomial(rng *rand.Rand, n int, p float64) int {
	if n == 0 {
		return 0
	}
	return int(distuv.Binomial{N: float64(n), P: p, Src: rng}.Rand())
}

// trinomial draws how many of n trials have the outcomes of probabilities p and q; the
// rest has a third.
func trinomial(rng *rand.Rand, n int, p, q float64) (first, second int) {
	first = binomial(rng, n, p)
	return first, binomial(rng, n-first, q/(1-p))
}
