package succinct

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
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
	clip, err := Clip(sparsity, buckets, max(r.MinReports, r.TargetReports), beta)
	if err != nil {
		return nil, err
	}
	noise, bytes, err := newNoise(r.Epsilon, clip)
	if err != nil {
		return nil, err
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	key, err := r.PublicKey("succinct/hash")
	if err != nil {
		return nil, err
	}
	h := newHash(binary.LittleEndian.Uint64(key[:]), binary.LittleEndian.Uint64(key[8:]), buckets)
	return &mechanism{round: r, digest: digest, hash: h, clip: int64(clip), noise: noise, codec: codec{bytes: bytes}}, nil
}

type mechanism struct {
	round  fl.Round
	digest [32]byte
	hash   hash
	clip   int64
	noise  sample.DiscreteLaplace
	codec  codec
}

var (
	_ fl.KeyValueMechanism = (*mechanism)(nil)
	_ fl.ReportSizer       = (*mechanism)(nil)
)

// Encode implements fl.Mechanism. O(dim).
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	pairs, err := keyvalue.Pairs(grad, m.round.Dim, m.round.Scale)
	if err != nil {
		return dst, fmt.Errorf("succinct: encode: %w", err)
	}
	return m.EncodeKeyValues(dst, pairs, rng)
}

// EncodeKeyValues implements fl.KeyValueMechanism. O(pairs).
func (m *mechanism) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	if err := fl.CheckKeyValues(pairs, m.round.Dim); err != nil {
		return dst, fmt.Errorf("succinct: encode: %w", err)
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	seed := rng.Uint32()
	sum := m.sum(pairs, seed, exact.Rand{Rand: rng})
	return m.codec.append(dst, seed, sum+m.noise.Rand(rng)), nil
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

func (m *mechanism) NewAggregator() fl.Aggregator {
	return &aggregator{mechanism: m, sums: make([]int64, m.round.Dim)}
}

func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Model: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

func (m *mechanism) ReportBytes() int { return seedBytes + m.codec.bytes }

const seedBytes = 4

// codec writes a seed and an integer of so many bytes, two's complement.
type codec struct{ bytes int }

// limit is the largest integer.
func (c codec) limit() int64 { return math.MaxInt32 >> (32 - 8*c.bytes) }

// append moves the integer into the range of −limit to limit.
func (c codec) append(dst []byte, seed uint32, x int64) []byte {
	var bytes [4]byte
	binary.LittleEndian.PutUint32(bytes[:], uint32(min(max(x, -c.limit()), c.limit())))
	return append(binary.LittleEndian.AppendUint32(dst, seed), bytes[:c.bytes]...)
}

func (c codec) parse(report []byte) (seed uint32, x int64, err error) {
	if len(report) != seedBytes+c.bytes {
		return 0, 0, fmt.Errorf("%w: length: got %d bytes, must be %d", fl.ErrBadReport, len(report), seedBytes+c.bytes)
	}
	var bytes [4]byte
	copy(bytes[4-c.bytes:], report[seedBytes:])
	x = int64(int32(binary.LittleEndian.Uint32(bytes[:])) >> (32 - 8*c.bytes))
	if x < -c.limit() {
		return 0, 0, fmt.Errorf("%w: integer: got %d, must be at least %d", fl.ErrBadReport, x, -c.limit())
	}
	return binary.LittleEndian.Uint32(report), x, nil
}
