package privkv

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/keyvalue"
)

// The registered names. The package is named after the family.
const (
	NamePrivKV  = "privkv"
	NamePrivKVM = "privkvm"
	NameKVUE    = "kvue"
)

// Names of the parameters of "privkvm" in Round.Params. The others have none.
const (
	// ParamRounds is the number of real rounds c among which the budget of the values
	// is split, in [1, MaxIterations]. Complete sets 1.
	ParamRounds = "rounds"
	// ParamVirtual is the number of virtual iterations, in [0, MaxIterations].
	// Complete sets 5.
	ParamVirtual = "virtual"
)

// MaxIterations bounds both.
const MaxIterations = 1000

func init() {
	for _, name := range []string{NamePrivKV, NamePrivKVM, NameKVUE} {
		fl.Register(name, factory{name})
	}
}

type factory struct{ name string }

// params are the names of the mechanism's parameters with their defaults.
func (f factory) params() map[string]int {
	if f.name == NamePrivKVM {
		return map[string]int{ParamRounds: 1, ParamVirtual: 5}
	}
	return nil
}

// Complete implements fl.Completer.
func (f factory) Complete(r fl.Round) (fl.Round, error) {
	for name, value := range f.params() {
		if !r.Params.Has(name) {
			r.Params = r.Params.With(name, fl.Int(value))
		}
	}
	return r, nil
}

// Columns implements fl.ColumnLister.
func (factory) Columns() []string { return keyvalue.Columns() }

// Open implements fl.Factory.
func (f factory) Open(r fl.Round) (fl.Mechanism, error) {
	if err := r.CheckLocal(); err != nil {
		return nil, err
	}
	rounds, virtual, err := f.iterations(r.Params)
	if err != nil {
		return nil, err
	}
	p, err := newProtocol(f.name, r.Epsilon, rounds, virtual)
	if err != nil {
		return nil, err
	}
	round, err := count.NewRound(r)
	if err != nil {
		return nil, err
	}
	return &mechanism{round: round, protocol: p, codec: newCodec(r.Dim, len(p.messages)), rounds: rounds}, nil
}

// iterations returns the numbers of real and of virtual iterations: 1 and 0 for
// mechanisms that are not iterative.
func (f factory) iterations(p fl.Params) (rounds, virtual int, err error) {
	if f.name != NamePrivKVM {
		return 1, 0, p.Only()
	}
	if err := p.Only(ParamRounds, ParamVirtual); err != nil {
		return 0, 0, err
	}
	if rounds, err = p.Int(ParamRounds); err != nil {
		return 0, 0, err
	}
	if virtual, err = p.Int(ParamVirtual); err != nil {
		return 0, 0, err
	}
	if rounds < 1 || rounds > MaxIterations {
		return 0, 0, fl.Invalid(ParamRounds, rounds, "must be in [1, %d]", MaxIterations)
	}
	if virtual < 0 || virtual > MaxIterations {
		return 0, 0, fl.Invalid(ParamVirtual, virtual, "must be in [0, %d]", MaxIterations)
	}
	return rounds, virtual, nil
}

type mechanism struct {
	round    *count.Round
	protocol *protocol
	codec    codec
	rounds   int
}

var (
	_ fl.KeyValueMechanism = (*mechanism)(nil)
	_ fl.ReportSizer       = (*mechanism)(nil)
	_ fl.Adviser           = (*mechanism)(nil)
)

// Encode implements fl.Mechanism. O(dim).
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return keyvalue.Encode(m, m.round.Round, dst, grad, rng)
}

// EncodeKeyValues implements fl.KeyValueMechanism. O(pairs), to check them.
func (m *mechanism) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	return m.EncodeChoosing(dst, pairs, exact.Rand{Rand: rng})
}

// EncodeChoosing is EncodeKeyValues with every choice taken by choose, so that the
// law of a report can be enumerated.
func (m *mechanism) EncodeChoosing(dst []byte, pairs []fl.KeyValue, choose exact.Chooser) ([]byte, error) {
	if err := fl.CheckKeyValues(pairs, m.round.Dim); err != nil {
		return dst, m.round.Wrap("encode", err)
	}
	key, value, held := sampled(pairs, m.round.Dim, choose)
	return m.codec.append(dst, entry{key, m.protocol.message(held, value, choose)}), nil
}

// sampled draws a key and returns it with the value that the client has there, if it holds the key.
func sampled(pairs []fl.KeyValue, dim int, choose exact.Chooser) (key uint32, value float64, held bool) {
	key = uint32(choose.Uniform(uint64(dim)))
	at, held := slices.BinarySearchFunc(pairs, key, func(p fl.KeyValue, key uint32) int {
		return int(int64(p.Key) - int64(key))
	})
	if held {
		value = pairs[at].Value
	}
	return key, value, held
}

func (m *mechanism) NewAggregator() fl.Aggregator { return count.New(m.round, m.newTallies) }

// Guarantee implements fl.Mechanism. For PrivKV and PrivKVM the true ε is smaller, see
// the package comment.
func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

func (m *mechanism) ReportBytes() int { return m.codec.bytes }

// Advice implements fl.Adviser.
func (m *mechanism) Advice() []string {
	if m.rounds == 1 {
		return nil
	}
	return []string{fmt.Sprintf("%s = %d keeps budget for later rounds, which run by NewIteration only; 1 gives less noise", ParamRounds, m.rounds)}
}

// entry is what a report says: a message about a key.
type entry struct{ key, message uint32 }

// codec writes an entry as one integer.
type codec struct {
	limit    uint32 // dim·messages, at most 2^30
	messages uint32
	bytes    int
}

func newCodec(dim, messages int) codec {
	limit := uint32(dim * messages)
	return codec{limit: limit, messages: uint32(messages), bytes: (bits.Len32(limit-1) + 7) / 8}
}

func (c codec) append(dst []byte, e entry) []byte {
	var code [4]byte
	binary.LittleEndian.PutUint32(code[:], e.key*c.messages+e.message)
	return append(dst, code[:c.bytes]...)
}

func (c codec) parse(report []byte) (entry, error) {
	if len(report) != c.bytes {
		return entry{}, count.BadReport("length", len(report), "must be %d bytes", c.bytes)
	}
	var padded [4]byte
	copy(padded[:], report)
	code := binary.LittleEndian.Uint32(padded[:])
	if code >= c.limit {
		return entry{}, count.BadReport("code", code, "must be below %d", c.limit)
	}
	return entry{key: code / c.messages, message: code % c.messages}, nil
}
