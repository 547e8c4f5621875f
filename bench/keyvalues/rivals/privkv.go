package rivals

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

// PrivKV, PrivKVM and KVUE: mechanisms that sample one key per client. They show what came before PCKV.
//
// They are baselines. Every client reports about one key only, and so the error per key grows
// with the number of keys d.
//
// # Mechanisms
//
// A client draws a key j uniformly from all d keys. It reports j, which says nothing about its
// data, and a message about its own state there. The state is that j is not held, or that it is
// held with a value v. The value is rounded to +1 with probability (1+v)/2 and to −1 otherwise.
//
//   - "privkv" (Ye, Hu, Meng, Zheng, PrivKV: Key-Value Data Collection with Local
//     Differential Privacy, S&P 2019) has the messages none, + and −. The sign
//     goes through randomized response with ε/2. A client that does not hold j takes
//     a fair sign. Whether the sign is sent, or none in its place, goes through
//     randomized response with ε/2.
//   - "privkvm" (ibid.) is the first of c rounds of the iterative mechanism, the only
//     one in which keys are perturbed: ε/2 for the key and ε/(2c) for the sign
//     (parameter rounds = c). Further rounds are each an [Iteration]. Without them the server
//     computes what c rounds of the first kind would have given in expectation (parameter
//     virtual, the number of virtual iterations): rounds = 1 and virtual = 5 is the "1r5v" of the
//     literature. With c > 1 the first report spends ε/2 + ε/(2c).
//   - "kvue" (Sun, Zhao, Ye, Feng, Wang, Bai, Conditional Analysis for Key-Value Data
//     with Local Differential Privacy, arXiv 1907.05014) has the three states as a unary
//     code of three bits. Each bit goes through randomized response with ε/2
//     (symmetric unary encoding).
//
// # Iterations
//
// A client of an [Iteration] draws a key again. It reports the key and a sign: the sign of its value,
// or, for a key that it does not hold, the sign of the mean that was published for the key after the
// iteration before. The sign goes through randomized response with ε/(2c). Signs of clients without
// the key pull the next estimate to the published mean, and no longer to 0.
//
// Iterations are for experiments. No registered mechanism runs them: a
// round's description would have to hold d means, and every client would have to send c reports.
// The server publishes the first round's conditional means (virtual = 0), both sides
// make the second iteration from them with [NewIteration], and so on.
//
// The paper of PCKV, Section 4.2, says that the key has a budget of 0 in these rounds. Randomized
// response with a budget of 0 would say "none" in half of the reports, whatever the client holds. Here every report has a
// sign: the privacy is the same, and the noise is the noise of twice as many reports.
//
// # Privacy
//
// A report is ε-LDP. All choices are integers (package fl/exact), and the tests enumerate
// all messages of all inputs. Two codes of KVUE differ in two bits, and e^ε is attained. For
// PrivKV with key budget ε1 and value budget ε2 the largest ratio is
// max(e^ε1·2/(1+e^−ε2), e^ε2, (1+e^ε2)/(2·e^ε1)). It is below e^(ε1+ε2): the split of the
// paper leaves some budget unused.
//
// A report of an iteration is ε/(2c)-LDP, for all means that may have been published. The c reports of a
// client are ε-LDP together, by basic composition: ε/2 + ε/(2c), and c−1 times ε/(2c). That the
// published means depend on earlier reports changes nothing. Any two clients are neighbours,
// whatever they hold (replace one).
//
// # Reports
//
// A report is the integer j·m + message, little-endian in as many bytes as d·m − 1 needs.
// PrivKV has m = 3 (none, +, −). KVUE has m = 8 (bit 0: none, bit 1: +, bit 2: −). An iteration has
// m = 2 (+, −).
//
// # Estimation
//
// Let N of n reports be about a key.
//
//   - Frequency: (hits/N − q)/(p − q). A hit is a sign (PrivKV) or a missing bit
//     for none (KVUE). Its probability is p with the key and q without. The estimate is
//     unbiased given N > 0. With N = 0 it is 0 ± 1.
//   - Mean: d/n·gain·(number of + less number of −), unbiased. It is formed
//     directly. The papers use the product of frequency and conditional mean, which is
//     biased, because a conditional mean is a ratio, and PrivKV's is pulled towards 0.
//   - Conditional: PrivKV's m̂ is the mean of the signs over the gain of their
//     randomized response. Fair signs of clients without the key pull it towards 0, by
//     the factor w = f·p/(f·p + (1−f)·q). v virtual iterations multiply it by
//     (1 − (1−w)^(1+v))/w, with f estimated. KVUE's is the estimated sum of values over
//     the estimated frequency. Frequencies are moved into [1/N, 1] for these, and results
//     into [−1, 1] times Round.Scale. With N = 0 it is 0.
//   - Iterations: the mean of the signs over the gain, moved into the same range. In expectation it is
//     f·m + (1−f)·m' after a published mean m'. The bias shrinks by the factor 1−f: hardly
//     at all for rare keys. The last iteration has the variance of a budget of ε/(2c).
const (
	PrivKV  = "privkv"
	PrivKVM = "privkvm"
	KVUE    = "kvue"
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
	for _, name := range []string{PrivKV, PrivKVM, KVUE} {
		fl.Register(name, privKVFactory{name})
	}
}

type privKVFactory struct{ name string }

// params are the names of the mechanism's parameters with their defaults.
func (f privKVFactory) params() map[string]int {
	if f.name == PrivKVM {
		return map[string]int{ParamRounds: 1, ParamVirtual: 5}
	}
	return nil
}

// Complete implements fl.Completer.
func (f privKVFactory) Complete(r fl.Round) (fl.Round, error) {
	for name, value := range f.params() {
		if !r.Params.Has(name) {
			r.Params = r.Params.With(name, fl.Int(value))
		}
	}
	return r, nil
}

// Columns implements fl.ColumnLister.
func (privKVFactory) Columns() []string { return keyvalue.Columns() }

// Open implements fl.Factory.
func (f privKVFactory) Open(r fl.Round) (fl.Mechanism, error) {
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
	return &privKVMechanism{round: round, protocol: p, codec: newPrivKVCodec(r.Dim, len(p.messages)), rounds: rounds}, nil
}

// iterations returns the numbers of real and of virtual iterations: 1 and 0 for
// mechanisms that are not iterative.
func (f privKVFactory) iterations(p fl.Params) (rounds, virtual int, err error) {
	if f.name != PrivKVM {
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

type privKVMechanism struct {
	round    *count.Round
	protocol *protocol
	codec    privKVCodec
	rounds   int
}

var (
	_ fl.KeyValueMechanism = (*privKVMechanism)(nil)
	_ fl.ReportSizer       = (*privKVMechanism)(nil)
	_ fl.Adviser           = (*privKVMechanism)(nil)
)

// Encode implements fl.Mechanism. O(dim).
func (m *privKVMechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return keyvalue.Encode(m, m.round.Round, dst, grad, rng)
}

// EncodeKeyValues implements fl.KeyValueMechanism. O(pairs), to check them.
func (m *privKVMechanism) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	return m.EncodeChoosing(dst, pairs, exact.Rand{Rand: rng})
}

// EncodeChoosing is EncodeKeyValues with every choice taken by choose, so that the
// law of a report can be enumerated.
func (m *privKVMechanism) EncodeChoosing(dst []byte, pairs []fl.KeyValue, choose exact.Chooser) ([]byte, error) {
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

func (m *privKVMechanism) NewAggregator() fl.Aggregator { return count.New(m.round, m.newTallies) }

// Guarantee implements fl.Mechanism. For PrivKV and PrivKVM the true ε is smaller, see
// the comment of PrivKVM.
func (m *privKVMechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

func (m *privKVMechanism) ReportBytes() int { return m.codec.bytes }

// Advice implements fl.Adviser.
func (m *privKVMechanism) Advice() []string {
	if m.rounds == 1 {
		return nil
	}
	return []string{fmt.Sprintf("%s = %d keeps budget for later rounds, which run by NewIteration only; 1 gives less noise", ParamRounds, m.rounds)}
}

// entry is what a report says: a message about a key.
type entry struct{ key, message uint32 }

// privKVCodec writes an entry as one integer.
type privKVCodec struct {
	limit    uint32 // dim·messages, at most 2^30
	messages uint32
	bytes    int
}

func newPrivKVCodec(dim, messages int) privKVCodec {
	limit := uint32(dim * messages)
	return privKVCodec{limit: limit, messages: uint32(messages), bytes: (bits.Len32(limit-1) + 7) / 8}
}

func (c privKVCodec) append(dst []byte, e entry) []byte {
	var code [4]byte
	binary.LittleEndian.PutUint32(code[:], e.key*c.messages+e.message)
	return append(dst, code[:c.bytes]...)
}

func (c privKVCodec) parse(report []byte) (entry, error) {
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
