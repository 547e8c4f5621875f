package fl

import "math/rand/v2"

// Ternary is a sparse vector with entries in {−1, 0, +1}. Only the non-zero
// entries are listed. Indices at or beyond Dim are dummies: they fill the vector
// up to a fixed sparsity and carry no signal.
type Ternary struct {
	Dim   int      // number of real coordinates
	Index []uint32 // distinct, each below Dim+len(Index), in any order
	Sign  []int8   // +1 or −1, as long as Index
}

// Len is the number of listed entries, dummies included.
func (x Ternary) Len() int { return len(x.Index) }

// Validate checks x against a dimension and an exact sparsity, in O(sparsity)
// expected time. It does not look for repeated indices: use a randomizer's own
// check for that.
func (x Ternary) Validate(dim, sparsity int) error {
	switch {
	case x.Dim != dim:
		return Invalid("ternary.dim", x.Dim, "must be %d", dim)
	case len(x.Index) != sparsity:
		return Invalid("ternary.index", len(x.Index), "must list exactly %d entries, dummies included", sparsity)
	case len(x.Sign) != len(x.Index):
		return Invalid("ternary.sign", len(x.Sign), "must be as long as index (%d)", len(x.Index))
	}
	for i, j := range x.Index {
		if int64(j) >= int64(dim)+int64(sparsity) {
			return Invalid("ternary.index", j, "must be below dim+sparsity = %d", dim+sparsity)
		}
		if s := x.Sign[i]; s != 1 && s != -1 {
			return Invalid("ternary.sign", s, "must be +1 or -1")
		}
	}
	return nil
}

// SparseMechanism is a Mechanism over sparse ternary vectors, for clients that
// ternarize by a rule of their own.
type SparseMechanism interface {
	Mechanism
	ReportSizer
	Amplifier
	// EncodeTernary appends one report of x, which must have exactly the
	// round's sparsity. rng and errors are as in Encode.
	EncodeTernary(dst []byte, x Ternary, rng *rand.Rand) ([]byte, error)
}

// KeyValue is one pair that a client holds: a key below Round.Dim and a value in
// [−1, 1]. To hold a key with the value 0 is not the same as not to hold it.
type KeyValue struct {
	Key   uint32
	Value float64
}

// KeyValueMechanism is a Mechanism over sets of key-value pairs. Its Encode takes
// the non-zero coordinates of a gradient as pairs, in units of Round.Scale and
// clipped to [−1, 1].
type KeyValueMechanism interface {
	Mechanism
	// EncodeKeyValues appends one report of pairs with distinct keys, in increasing
	// order. It takes time in proportion to the pairs and to what is sent, not to
	// Round.Dim. rng and errors are as in Encode.
	EncodeKeyValues(dst []byte, pairs []KeyValue, rng *rand.Rand) ([]byte, error)
}

// CheckKeyValues returns a *ParamError unless pairs is what
// KeyValueMechanism.EncodeKeyValues takes: keys below dim, strictly increasing, and
// values in [−1, 1].
func CheckKeyValues(pairs []KeyValue, dim int) error {
	for i, p := range pairs {
		switch {
		case int64(p.Key) >= int64(dim):
			return Invalid("pairs", p.Key, "keys must be below dim = %d", dim)
		case i > 0 && pairs[i-1].Key >= p.Key:
			return Invalid("pairs", p.Key, "keys must be strictly increasing, pair %d is not", i)
		case !(p.Value >= -1 && p.Value <= 1):
			return Invalid("pairs", p.Value, "the value of key %d must be in [-1, 1]", p.Key)
		}
	}
	return nil
}
