package sparse_test

import "github.com/hushgrad/hushgrad/fl"

// allInputs lists every ternary vector with exactly s entries over dim real
// coordinates and s dummies (dummies are always taken in order and carry +).
func allInputs(dim, s int) []fl.Ternary {
	var out []fl.Ternary
	var grow func(next int, index []uint32, sign []int8)
	grow = func(next int, index []uint32, sign []int8) {
		if len(index) == s || next == dim {
			x := fl.Ternary{Dim: dim, Index: append([]uint32(nil), index...), Sign: append([]int8(nil), sign...)}
			for dummy := uint32(dim); len(x.Index) < s; dummy++ {
				x.Index, x.Sign = append(x.Index, dummy), append(x.Sign, 1)
			}
			out = append(out, x)
			return
		}
		grow(next+1, index, sign)
		for _, b := range []int8{1, -1} {
			grow(next+1, append(index, uint32(next)), append(sign, b))
		}
	}
	grow(0, nil, nil)
	return out
}

// table is a hash function given by its values.
type table []uint32

// Bind implements sparse.HashFunc; a table is one function only.
func (table) Bind(uint32) {}

// Slot implements sparse.HashFunc.
func (t table) Slot(key uint32) uint32 { return t[key] }

// tables calls f with every function from [keys] to [slots]. The table is reused.
func tables(keys int, slots uint32, f func(table)) {
	values := make(table, keys)
	for {
		f(values)
		i := 0
		for ; i < keys; i++ {
			if values[i]++; values[i] < slots {
				break
			}
			values[i] = 0
		}
		if i == keys {
			return
		}
	}
}
