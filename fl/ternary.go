package fl

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
