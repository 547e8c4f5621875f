package rivals

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
)

// Votes of a message.
const (
	none  = 1 << iota // the key is not held
	plus              // it is, with +1
	minus             // it is, with −1
)

// protocol is a randomizer of what a client says about one key, with the moments of
// its messages.
type protocol struct {
	privKVRandomizer
	messages []uint8 // the votes of each message
	// p and q are the probabilities that a message of a client with and without the
	// key has no vote for none; gap = p − q.
	p, q, gap float64
	// in and out are the expected squares of the difference of the votes for plus and
	// minus, of a client with and without the key.
	in, out float64
	// gain makes gain·(votes for plus − votes for minus) unbiased for the value.
	gain float64
}

type privKVRandomizer interface {
	// message draws the index of a message.
	message(held bool, value float64, choose exact.Chooser) uint32
	// conditional estimates the mean value of the clients that hold the key, unclamped, from
	// at least one report; frequency is in (0, 1].
	conditional(k tally, frequency float64) float64
}

// newProtocol returns the protocol of a mechanism. The number of rounds divides the
// budget of PrivKV's values.
func newProtocol(name string, epsilon float64, rounds, virtual int) (*protocol, error) {
	key, err := exact.NewWeights(epsilon/2, 1, 2)
	if err != nil {
		return nil, err
	}
	value, err := exact.NewWeights(epsilon/2/float64(rounds), 1, 2)
	if err != nil {
		return nil, err
	}
	if key.High == key.Low || value.High == value.Low {
		return nil, fl.Invalid("epsilon", epsilon, "must be so large that reports depend on the data")
	}
	p, q, gap := privKVMoments(key)
	if name == KVUE {
		return &protocol{
			privKVRandomizer: &privKVUnary{weights: [2]uint64{key.Low, key.High}, gap: gap},
			messages:         []uint8{0, none, plus, none | plus, minus, none | minus, plus | minus, none | plus | minus},
			p:                p, q: q, gap: gap, in: 1 - 2*p*q, out: 2 * p * q, gain: 1 / gap,
		}, nil
	}
	_, _, valueGap := privKVMoments(value)
	r := &correlated{
		key: [2]uint64{key.Low, key.High}, value: [2]uint64{value.Low, value.High},
		p: p, q: q, gap: valueGap, virtual: virtual,
	}
	return &protocol{
		privKVRandomizer: r,
		messages:         []uint8{none, plus, minus},
		p:                p, q: q, gap: gap, in: p, out: q, gain: 1 / (p * valueGap),
	}, nil
}

// privKVMoments returns the probabilities of the truth and of the lie, and their difference.
func privKVMoments(w exact.Weights) (p, q, gap float64) {
	total := float64(w.Total)
	return float64(w.High) / total, float64(w.Low) / total, float64(w.High-w.Low) / total
}

// sign rounds a value: 1 for minus with probability (1−value)/2 in units of 2^−53,
// and else 0.
func sign(value float64, choose exact.Chooser) int {
	const one = 1 << 53
	up := uint64((1 + value) * (one / 2))
	return choose.Weighted([]uint64{up, one - up})
}

// correlated is PrivKV's randomizer. The weights are the weights of the lie and the truth.
type correlated struct {
	key, value [2]uint64
	p, q       float64
	gap        float64 // of the randomized response of the signs
	virtual    int
}

// message implements privKVRandomizer: 0 is none, 1 is plus and 2 is minus.
func (c *correlated) message(held bool, value float64, choose exact.Chooser) uint32 {
	truth := choose.Weighted(c.key[:]) == 1
	if held != truth {
		return 0
	}
	if !held {
		return 1 + uint32(choose.Uniform(2))
	}
	lie := 1 - choose.Weighted(c.value[:])
	return 1 + uint32(sign(value, choose)^lie)
}

// conditional implements randomizer.
func (c *correlated) conditional(k tally, frequency float64) float64 {
	signs := k.plus + k.minus
	if signs == 0 {
		return 0
	}
	mean := min(max(float64(k.plus-k.minus)/(c.gap*float64(signs)), -1), 1)
	// The share of the signs that come from clients with the key.
	w := frequency * c.p / (frequency*c.p + (1-frequency)*c.q)
	return mean * (1 - math.Pow(1-w, float64(1+c.virtual))) / w
}

// privKVUnary is KVUE's randomizer. The weights are the weights of the lie and the truth.
type privKVUnary struct {
	weights [2]uint64
	gap     float64
}

// message implements privKVRandomizer: bit 0 is none, bit 1 is plus and bit 2 is minus.
func (u *privKVUnary) message(held bool, value float64, choose exact.Chooser) uint32 {
	code := uint32(none)
	if held {
		code = plus << sign(value, choose)
	}
	for bit := uint32(none); bit <= minus; bit <<= 1 {
		if choose.Weighted(u.weights[:]) == 0 {
			code ^= bit
		}
	}
	return code
}

// conditional implements randomizer.
func (u *privKVUnary) conditional(k tally, frequency float64) float64 {
	return float64(k.plus-k.minus) / (u.gap * float64(k.reports) * frequency)
}

// hits returns an interval of the probability of a hit in the reports about a key, as
// if there was one more report: what is never certain has no variance of 0.
func (k tally) hits() (low, high float64) {
	n, hit := float64(k.reports), float64(k.reports-k.none)
	return hit / (n + 1), (hit + 1) / (n + 1)
}

// frequency estimates the share of the clients that hold a key.
func (p *protocol) frequency(k tally) (value, stderr float64) {
	if k.reports == 0 {
		return 0, 1 // the truth is in [0, 1]
	}
	n := float64(k.reports)
	low, high := k.hits()
	b := min(max(0.5, low), high) // of the largest variance
	b = min(max(b, p.q), p.p)     // what is possible
	// b·(1−b) is concave: estimated from n reports it is low by a factor of 1 − 1/n.
	return (float64(k.reports-k.none)/n - p.q) / p.gap, math.Sqrt(b*(1-b)*(n+1)) / n / p.gap
}

// mean estimates the sum of the values of a key over all of n clients. Each of them
// reports on it with probability 1/dim. The standard error is wide by the square of
// the mean, which it does not subtract from the second moment.
func (p *protocol) mean(k tally, dim int, n int64) (value, stderr float64) {
	_, b := k.hits()
	holders := max((b-p.q)/p.gap, 0)
	second := p.out + holders*(p.in-p.out)
	d, reports := float64(dim), float64(n)
	return d / reports * p.gain * float64(k.plus-k.minus), p.gain * math.Sqrt(d*second/reports)
}

// conditionalMean is the conditional mean moved into its range.
func (p *protocol) conditionalMean(k tally, frequency float64) float64 {
	if k.reports == 0 {
		return 0
	}
	holders := min(max(frequency, 1/float64(k.reports)), 1)
	return min(max(p.conditional(k, holders), -1), 1)
}
