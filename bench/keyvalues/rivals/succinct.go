package rivals

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/sample"
	"github.com/hushgrad/hushgrad/keyvalue"
	"github.com/hushgrad/hushgrad/sparse"
)

// Succinct is a pseudo-random ±1 sketch with Laplace noise: it estimates the mean and nothing else.
//
// It follows SUCCINCT (Zhou, Wang, Chan, Fanti, Shi, Locally Differentially Private Sparse
// Vector Aggregation, S&P 2022) and is ε-locally differentially private.
//
// # Mechanism
//
// A report's seed is public and gives every key j a sign Z_j and a bucket, uniform in
// [B] (parameter buckets). A client rounds each value v to b = +1 with probability
// (1+v)/2 and to −1 otherwise. It sums b·Z_j over its keys in bucket 0 and clips the sum to
// [−η, η]. It adds discrete Laplace noise of scale 2η/ε and reports the result. (The seeds
// of two clients differ, so bucket 0 stands for a bucket drawn at random.)
//
// The sum of a client with s keys has the moment generating function
//
//	E[e^λX] ≤ (1 + (cosh λ − 1)/B)^s
//
// so |X| > η has a probability of at most 2·e^(−λη) times that. η is the least integer
// for which some λ > 0 makes it at most β/(2n), for n reports (TargetReports, or else
// MinReports): with probability 1 − β/2 no client is clipped. η never exceeds s. For B = 1
// it is at most ⌈√(2·s·ln(4n/β))⌉, Hoeffding's bound, because cosh λ ≤ e^(λ²/2).
//
// A client with more than s keys is clipped more often, and its part of the mean
// shrinks. Privacy does not depend on the number of its keys.
//
// # Privacy
//
// The seed does not depend on the data. Given the seed, the clipped sum is an integer of
// [−η, η] for every input. The noise has P[k] ∝ e^(−|k|·ε/(2η)), drawn exactly
// (package internal/sample), so the probabilities of a result differ by e^ε at most.
// ε/(2η) is rounded down. A result outside the range of the report's integer is
// moved into it, which is post-processing.
//
// # Reports
//
// A report is the seed, 4 bytes, and the integer, 1 to 4 bytes in two's complement, both
// little-endian. The integer has as many bytes as leave less than e^−100 outside.
//
// # Estimation
//
// The mean of key j is the average of B·Z_j·x over the reports x in whose bucket 0 it
// is, with zeros for the others. It is unbiased but for the clipping. A report costs the
// server O(dim).
const Succinct = "succinct"

// ParamSparsity is s in Round.Params: the keys of a client of "succinct", and the coordinates of a ternary
// vector of "pckv-ternary".
const ParamSparsity = sparse.ParamSparsity

// Names of the other parameters of "succinct" in Round.Params.
const (
	ParamBuckets = "buckets" // buckets B, in [1, MaxSuccinctBuckets]. Complete sets 1.
	ParamBeta    = "beta"    // chance that a sum of the round is clipped. Complete sets 0.1.
)

func init() { fl.Register(Succinct, succinctFactory{}) }

type succinctFactory struct{}

// Complete implements fl.Completer.
func (succinctFactory) Complete(r fl.Round) (fl.Round, error) {
	for name, value := range map[string]fl.Value{ParamBuckets: fl.Int(1), ParamBeta: fl.Real(0.1)} {
		if !r.Params.Has(name) {
			r.Params = r.Params.With(name, value)
		}
	}
	return r, nil
}

// Open implements fl.Factory.
func (succinctFactory) Open(r fl.Round) (fl.Mechanism, error) {
	sparsity, err := sparse.ReadSparsity(r, ParamSparsity, ParamBuckets, ParamBeta)
	if err != nil {
		return nil, err
	}
	buckets, err := r.Params.Int(ParamBuckets)
	if err != nil {
		return nil, err
	}
	beta, err := r.Params.Real(ParamBeta)
	if err != nil {
		return nil, err
	}
	clip, err := leastClip(sparsity, buckets, max(r.MinReports, r.TargetReports), beta)
	if err != nil {
		return nil, err
	}
	noise, bytes, err := newNoise(r.Epsilon, clip)
	if err != nil {
		return nil, err
	}
	round, err := count.NewRound(r)
	if err != nil {
		return nil, err
	}
	key, err := r.PublicKey("succinct/hash")
	if err != nil {
		return nil, err
	}
	h := newHash(binary.LittleEndian.Uint64(key[:]), binary.LittleEndian.Uint64(key[8:]), buckets)
	return &succinctMechanism{round: round, hash: h, clip: int64(clip), noise: noise, codec: succinctCodec{bytes: bytes}}, nil
}

type succinctMechanism struct {
	round *count.Round
	hash  hash
	clip  int64
	noise sample.DiscreteLaplace
	codec succinctCodec
}

var (
	_ fl.KeyValueMechanism = (*succinctMechanism)(nil)
	_ fl.ReportSizer       = (*succinctMechanism)(nil)
)

// Encode implements fl.Mechanism. O(dim).
func (m *succinctMechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return keyvalue.Encode(m, m.round.Round, dst, grad, rng)
}

// EncodeKeyValues implements fl.KeyValueMechanism. O(pairs).
func (m *succinctMechanism) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	if err := fl.CheckKeyValues(pairs, m.round.Dim); err != nil {
		return dst, m.round.Wrap("encode", err)
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	seed := rng.Uint32()
	sum := m.sum(pairs, seed, exact.Rand{Rand: rng})
	return m.codec.append(dst, sketch{seed: seed, sum: sum + m.noise.Rand(rng)}), nil
}

// sum is the clipped sketch of a client, before the noise.
func (m *succinctMechanism) sum(pairs []fl.KeyValue, seed uint32, choose exact.Chooser) int64 {
	const one = 1 << 53 // of the probability of a sign
	start, sum := m.hash.start(seed), int64(0)
	for _, p := range pairs {
		z := m.hash.sign(start, p.Key)
		if z == 0 {
			continue
		}
		up := uint64((1 + p.Value) * (one / 2))
		if choose.Weighted([]uint64{up, one - up}) == 1 {
			z = -z
		}
		sum += z
	}
	return min(max(sum, -m.clip), m.clip)
}

func (m *succinctMechanism) NewAggregator() fl.Aggregator { return count.New(m.round, m.newSums) }

func (m *succinctMechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

func (m *succinctMechanism) ReportBytes() int { return seedBytes + m.codec.bytes }
