package sparse

import (
	"encoding/binary"
	"errors"

	"github.com/hushgrad/hushgrad/fl"
)

// HashFamily is a set of public hash functions from keys to slots, one for every seed. It
// is immutable and safe for concurrent use.
//
// An item is a coordinate with a sign. A [Layout] says how its slot follows
// from hashed keys, and a HashFamily supplies the hash functions. A report names one
// function of the family by a 32-bit seed, and one slot.
//
// Privacy does not depend on the family: the randomizers are ε-LDP for every
// single function. The family decides accuracy (its [Chances]) and speed.
//
// # The ideal family
//
// Keys fall into slots independently and uniformly, for any number of slots. The
// server reads every key for every report: O(d).
//
// # The linear family over GF(2)
//
// A public permutation, fresh in every round, gives each of the keys a label ℓ of m bits,
// 2^m ≥ keys. Up to m = 16 it is uniformly random. Beyond, it is computed label by label and close
// to uniform for any few keys (package gf2 says how close). With 2^k cells a function puts label ℓ into the
// cell A·ℓ ⊕ o. The matrix A is uniform among the k×m matrices of full rank. In the
// Paired layout (−1)^(c·ℓ⊕f) decides which slot of the pair stands for +.
//
// The labels that a report hits are the solutions of A·ℓ = o ⊕ cell: an affine
// subspace of 2^(m−k) labels. They can be counted in two ways:
//
//   - one by one, walking the subspace in Gray code: 2^(m−k) additions, after 64 reports were solved
//     together;
//   - through their Walsh spectrum. The indicator of the subspace is
//     1{A·ℓ = y} = 2^−k Σ_u (−1)^(u·y) (−1)^((Aᵀu)·ℓ) over u of k bits, so the report
//     adds ±1 at the 2^k distinct places Aᵀu, and one Walsh–Hadamard transform
//     per round turns the sum of all reports into counts. With the sign, the
//     places move by c.
//
// The cheaper one is taken: a report costs at most about √(2^m) additions,
// whatever d is. Where the counters of labels do not fit a processor's own cache, reports are
// collected and added block of counters by block. Sums of a spectrum go up and down, so that a byte
// for each is enough most of the time. Both ways count in integers. A tally depends neither on the order of
// the reports nor on how they were split. Both ways give the same counts.
//
// # Exact probabilities of the linear family
//
// Let N = 2^m − 1, C = 2^(m−k) and K = C − 1. Since A is uniform of full rank, the
// set of labels in the cell of a given label ℓ is ℓ plus a uniformly random
// subspace of C elements. The other keys of a client have random labels, for which the formulas
// take a uniform permutation. So the number of r other keys in that cell is
// hypergeometric. None of them is there with probability
// C(N−K, r)/C(N, r) = Π_{i<r} (N−K−i)/(N−i). With random order the number of later
// keys is uniform on 0 … s−1, hence
//
//	Together = K/N,   Overwritten(s) = 1 − (1/s) Σ_{r<s} Π_{i<r} (N−K−i)/(N−i).
//
// For a foreign key, count labels in the reported cell. There are C in all. Each of
// the s own keys is among them with probability own, hence s·own on average. (own is
// the weight of a marked cell, whatever the conflicts: (e^ε+1)/Ω in CoCo and e^ε/Ω in
// Collision.) All other 2^m − s labels are alike, so a foreign key is in the reported
// cell with probability
//
//	(C − s·own)/(2^m − s),
//
// and in CoCo its sign bit matches with probability ½, c being uniform: FalseHit.
// For two foreign keys (the two items of a coordinate in Collision) let O be the
// number of own keys in the reported cell. Then
//
//	FalsePair = E[(C−O)(C−O−1)] / ((2^m−s)(2^m−s−1)),
//	E[O] = s·own,  E[O²] = s·own + s(s−1)·own·K/N,
//
// since two own keys share a cell with probability K/N. If one item of a coordinate
// is the client's own and hit, the other is hit as well with probability
// (K − (s−1)K/N)/(2^m−s) = K/N = Together.
//
// # What rests on the labels
//
// Privacy does not: a report is ε-LDP for every fixed labelling, the identity included.
//
// The chances above, and with them that estimates are unbiased, are averages over labels and
// functions. Together is exact for every fixed labelling, and so is Overwritten for up to three
// keys: A treats any two or three labels alike. For more keys they rest on how often the labels of
// four keys, or of a larger even number, have the sum 0 modulo 2. Under a uniform permutation four do
// once in 2^m − 3 times. From 2^17 labels on, that the computed ones do as often is what
// the tests of package gf2 see, for keys in any order and of any structure that they try. It is not
// proven. Estimates of a round vary with its labels either way.
type HashFamily interface {
	Chances
	// Func returns an evaluator, bound to seed 0.
	Func() HashFunc
	// NewTally returns empty counters.
	NewTally() Tally
}

// HashFunc evaluates one function of the family at a time. It is not safe for
// concurrent use.
type HashFunc interface {
	// Bind selects the function of a seed.
	Bind(seed uint32)
	// Slot returns the slot of a key, below the number of slots.
	Slot(key uint32) uint32
}

// Tally counts, for every coordinate and sign, the reports whose slot is the
// item's. Sums of integers: the result depends neither on the order of the
// reports nor on how they were split over tallies.
type Tally interface {
	// Add counts one report. slot is below the number of slots, and a tally
	// counts at most MaxReports reports.
	Add(seed, slot uint32)
	// Merge adds the counts of a tally of the same family.
	Merge(other Tally) error
	// Counts returns the counts for + and − of every coordinate.
	Counts() (plus, minus []int32)
	// Integers is the number of integers behind the counts.
	Integers() int
	// Visit calls f with each of them, always in the same order, and replaces it by what f returns: to store
	// them, and to restore them in an empty tally.
	Visit(f func(int32) int32)
}

var errOtherRound = errors.New("sparse: merge: the tallies belong to different rounds")

const (
	// MaxSlots is the largest number of slots: a slot travels in at most 4 bytes.
	MaxSlots = 1 << 31
	// MaxReports is the largest number of reports of a tally: its counters are
	// int32, and a report changes a counter by at most 1.
	MaxReports = 1<<31 - 1
)

// HashShape is what a family is made for.
type HashShape struct {
	Layout   Layout
	Dim      int // coordinates
	Sparsity int // entries of a client's vector, dummies included
	Slots    int
	// MinKeys asks the linear family for labels as if there were at least this
	// many keys.
	MinKeys int
}

// keys is the number of keys that labels are made for.
func (s HashShape) keys() int { return max(s.Layout.Keys(s.Dim, s.Sparsity), s.MinKeys) }

// NewHashFamily returns the family with that name, keyed by the round's public
// randomness. O(√d) for the linear family, O(1) for the ideal one.
func NewHashFamily(name string, shape HashShape, key [32]byte) (HashFamily, error) {
	chances, err := NewChances(name, shape.Layout, shape.keys(), shape.Slots)
	if err != nil {
		return nil, err
	}
	switch name {
	case HashIdeal:
		return &ideal{
			Chances: chances, shape: shape, slots: uint64(shape.Slots),
			key0: binary.LittleEndian.Uint64(key[0:8]), key1: binary.LittleEndian.Uint64(key[8:16]),
		}, nil
	case HashGF2:
		return newLinear(chances, shape, key)
	}
	return nil, fl.Invalid("hash", name, "must be one of %q", HashFamilies())
}

// Layout says how an item (coordinate j, sign b) falls into a slot.
type Layout uint8

const (
	// Paired layouts hash the coordinate to a slot for +; the slot for − is the
	// other one of the pair {2i, 2i+1} (CoCo). The number of slots is even.
	Paired Layout = iota
	// Separate layouts hash (j, +) and (j, −) on their own (Collision).
	Separate
)

// Item returns the slot of (coordinate, sign) under f.
func (l Layout) Item(f HashFunc, coordinate uint32, sign int8) uint32 {
	minus := uint32(0)
	if sign < 0 {
		minus = 1
	}
	if l == Paired {
		return f.Slot(coordinate) ^ minus
	}
	return f.Slot(2*coordinate + minus)
}
