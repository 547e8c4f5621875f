package keyvalue

import (
	"cmp"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/privacy"
)

// PCKV: locally private frequencies and means of key-value pairs, for clients that hold few of many
// keys.
//
// It follows Gu, Li, Cheng, Xiong, Cao, "PCKV: Locally Differentially Private Correlated
// Key-Value Data Collection with Optimized Utility", USENIX Security 2020. Three mechanisms
// are registered: "pckv-ue" (unary encoding), "pckv-grr" (generalized randomized response)
// and "pckv-agrr" (the same with the gain that padding gives, Theorem 3). [BestPCKV] says
// whether "pckv-ue" or "pckv-agrr" is more accurate for rare keys.
//
// # Padding and sampling
//
// A client with the pairs S sends one of them. With ℓ the padding length, each pair
// is taken with probability 1/max(|S|, ℓ), and otherwise one of ℓ dummy keys, which
// have the value 0. A value v becomes + with probability (1+v)/2, in units of 2^−53,
// and − otherwise (Algorithm 1). Clients with more than ℓ pairs are heard too rarely:
// frequencies and means are then low by ℓ/|S| of what such clients hold. [SizePair] and
// [PaddingFromSizes] choose ℓ by a round among other clients.
//
// # Exactness
//
// All probabilities are ratios of integers and all choices are drawn from uniform
// integers, so that the laws below hold to the last bit.
//
// PCKV-UE has weights w = 2^k and h = ⌊w·e^ε⌋. A position is +, −, 0 with weights w,
// w, h+w. The position of the sent pair ⟨j, v⟩ is v, −v, 0 with weights h, w, h+w.
// That is Lemma 2's a = 1/2, b = 2/(e^ε+3), p = e^ε/(e^ε+1) with h/w in the place of
// e^ε. Compare the law with the law of no pair: the probability of a report is multiplied by
// h/w when position j holds v and by 1 otherwise, up to a common factor between the
// two. Hence PCKV-UE is ε-LDP. The non-zero positions are found by gaps of an exact geometric
// law. The positions of dummies are independent of the data and are not sent.
//
// PCKV-GRR sends ⟨j, v⟩ with weight h and every other one of the 2(d+ℓ) signed keys
// with weight w, where h/w is at most e^ε, or 1 + ℓ(e^ε−1) for "pckv-agrr". No signed
// key is taken with a probability above 1/ℓ, so no report has a probability outside
// [1, 1+(h/w−1)/ℓ] times w over the total (Lemma 3).
//
// # Reports
//
// A report of PCKV-UE is one uvarint 2·gap+s per non-zero position, in increasing order, where
// gap counts the zeros since the last one and s is 1 for −. Every uvarint has its
// shortest form. The length depends on the noise and on the pair: a report is empty more often
// without a pair than with one. The guarantee covers the length, as it covers all of the report. A party
// that sees only the length, such as one that watches an encrypted connection, learns at most what ε
// allows. Reports are not padded: the longest has a byte for each of the d positions. Rounds with a
// shuffler need reports of one length, and refuse PCKV-UE. PCKV-GRR has one length.
//
// A report of PCKV-GRR is the integer 2·key+s, little-endian, in the least number of bytes that
// holds 2(d+ℓ)−1. Keys from d on are dummies.
const (
	PCKVUE   = "pckv-ue"
	PCKVGRR  = "pckv-grr"
	PCKVAGRR = "pckv-agrr"
)

// ParamPadding is the padding length ℓ in Round.Params, in [1, dim]: the number of
// pairs that clients are expected to hold. Left open it is dim, the only length that
// fits any client; one that fits most clients is much more accurate.
const ParamPadding = "padding"

func init() {
	for _, name := range []string{PCKVUE, PCKVGRR, PCKVAGRR} {
		fl.Register(name, pckvFactory{})
	}
}

type pckvFactory struct{}

var _ fl.Completer = pckvFactory{}

// Complete implements fl.Completer.
func (pckvFactory) Complete(r fl.Round) (fl.Round, error) {
	if !r.Params.Has(ParamPadding) {
		r.Params = r.Params.With(ParamPadding, fl.Int(r.Dim))
	}
	return r, nil
}

// Columns implements fl.ColumnLister.
func (pckvFactory) Columns() []string { return Columns() }

// Open implements fl.Factory.
func (pckvFactory) Open(r fl.Round) (fl.Mechanism, error) {
	padding, err := readPadding(r)
	if err != nil {
		return nil, err
	}
	round, err := count.NewRound(r)
	if err != nil {
		return nil, err
	}
	clone, err := privacy.NewClone(r.Epsilon)
	if err != nil {
		return nil, err
	}
	m := &pckvMechanism{round: round, padding: padding, clone: clone}
	switch r.Mechanism {
	case PCKVUE:
		m.pckvRandomizer, err = newPCKVUnary(r.Epsilon, r.Dim)
		return m, err
	case PCKVAGRR:
		return newSized(m, padding)
	default:
		return newSized(m, 1)
	}
}

func newSized(m *pckvMechanism, gain int) (fl.Mechanism, error) {
	g, err := newResponse(m.round.Epsilon, m.round.Dim, m.padding, gain)
	if err != nil {
		return nil, err
	}
	m.pckvRandomizer = g
	return &sized{pckvMechanism: m, bytes: g.bytes()}, nil
}

func readPadding(r fl.Round) (int, error) {
	if err := cmp.Or(r.CheckLocal(), r.Params.Only(ParamPadding)); err != nil {
		return 0, err
	}
	padding, err := r.Params.Int(ParamPadding)
	if err != nil {
		return 0, err
	}
	if padding < 1 || padding > r.Dim {
		return 0, fl.Invalid(ParamPadding, padding, "must be in [1, dim = %d]", r.Dim)
	}
	return padding, nil
}

// pckvRandomizer is what distinguishes the mechanisms.
type pckvRandomizer interface {
	// perturb appends the report of one sent pair.
	perturb(dst []byte, sent signedKey, choose exact.Chooser) []byte
	// read checks a report and calls visit, unless it is nil, with the keys it shows.
	read(report []byte, visit func(key int, minus bool)) error
	channel() Channel
}

type pckvMechanism struct {
	pckvRandomizer
	round   *count.Round
	padding int
	clone   *privacy.Clone
}

var (
	_ fl.KeyValueMechanism = (*pckvMechanism)(nil)
	_ fl.Amplifier         = (*pckvMechanism)(nil)
)

// Encode implements fl.Mechanism. O(dim).
func (m *pckvMechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return Encode(m, m.round.Round, dst, grad, rng)
}

// EncodeKeyValues implements fl.KeyValueMechanism. O(pairs), and for PCKV-UE the
// expected non-zero positions, dim·2/(e^ε+3).
func (m *pckvMechanism) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	if err := fl.CheckKeyValues(pairs, m.round.Dim); err != nil {
		return dst, m.round.Wrap("encode", err)
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	choose := exact.Rand{Rand: rng}
	return m.perturb(dst, padAndSample(pairs, m.round.Dim, m.padding, choose), choose), nil
}

func (m *pckvMechanism) NewAggregator() fl.Aggregator {
	return count.New(m.round, func() *counts {
		return &counts{mechanism: m, plus: make([]uint32, m.round.Dim), minus: make([]uint32, m.round.Dim)}
	})
}

func (m *pckvMechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

// Shuffled implements fl.Amplifier by the bound for any ε-LDP randomizer.
func (m *pckvMechanism) Shuffled() fl.Amplification { return m.clone }

// sized is a mechanism whose reports all have one size.
type sized struct {
	*pckvMechanism
	bytes int
}

var _ fl.ReportSizer = (*sized)(nil)

func (s *sized) ReportBytes() int { return s.bytes }
