package sparsetest

import "github.com/hushgrad/hushgrad/fl"

// Inputs lists every ternary vector with exactly s entries over dim real
// coordinates and s dummies (dummies are always taken in order and carry +).
func Inputs(dim, s int) []fl.Ternary {
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

// Table is a hash function given by its values.
type Table []uint32

// Bind implements slothash.Func; a table is one function only.
func (Table) Bind(uint32) {}

// Slot implements slothash.Func.
func (t Table) Slot(key uint32) uint32 { return t[key] }

// Tables calls f with every function from [keys] to [slots]. The table is reused.
func Tables(keys int, slots uint32, f func(Table)) {
	table := make(Table, keys)
	for {
		f(table)
		i := 0
		for ; i < keys; i++ {
			if table[i]++; table[i] < slots {
				break
			}
			table[i] = 0
		}
		if i == keys {
			return
		}
	}
}
