package succinct

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

// Name is the registered name.
const Name = "succinct"

// Names of the parameters in Round.Params.
const (
	ParamSparsity = sparse.ParamSparsity // keys of a client, s
	ParamBuckets  = "buckets"            // buckets B, in [1, MaxBuckets]. Complete sets 1.
	ParamBeta     = "beta"               // chance that a sum of the round is clipped. Complete sets 0.1.
)

func init() { fl.Register(Name, factory{}) }

type factory struct{}

// Complete implements fl.Completer.
func (factory) Complete(r fl.Round) (fl.Round, error) {
	for name, value := range map[string]fl.Value{ParamBuckets: fl.Int(1), ParamBeta: fl.Real(0.1)} {
		if !r.Params.Has(name) {
			r.Params = r.Params.With(name, value)
		}
	}
	return r, nil
}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
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
	return &mechanism{round: round, hash: h, clip: int64(clip), noise: noise, codec: codec{bytes: bytes}}, nil
}

type mechanism struct {
	round *count.Round
	hash  hash
	clip  int64
	noise sample.DiscreteLaplace
	codec codec
}

var (
	_ fl.KeyValueMechanism = (*mechanism)(nil)
	_ fl.ReportSizer       = (*mechanism)(nil)
)

// Encode implements fl.Mechanism. O(dim).
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return keyvalue.Encode(m, m.round.Round, dst, grad, rng)
}

// EncodeKeyValues implements fl.KeyValueMechanism. O(pairs).
func (m *mechanism) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
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
func (m *mechanism) sum(pairs []fl.KeyValue, seed uint32, choose exact.Chooser) int64 {
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

func (m *mechanism) NewAggregator() fl.Aggregator { return count.New(m.round, m.newSums) }

func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

func (m *mechanism) ReportBytes() int { return seedBytes + m.codec.bytes }
