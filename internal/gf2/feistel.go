package gf2

import "math/rand/v2"

// feistelRounds is how often a half of a key is changed, the two in turn.
const feistelRounds = 8

// feistel is a permutation of the numbers of m bits, computed for one number at a time. A number
// has a high half of ⌈m/2⌉ bits and a low half of ⌊m/2⌋ bits. Round i replaces a half by its sum
// modulo 2 with function i of the other half: the high half for even i, the low half for odd i.
//
// The functions are drawn and kept in tables. They take 16 KiB at m = 20, 64 KiB at m = 24 and
// 512 KiB at m = 30, which a processor reads from its own cache.
type feistel struct {
	low       int // bits of the low half
	functions [feistelRounds][]uint16
}

// newFeistel draws the functions: for each of them in order, and each of its arguments in
// order, the highest bits of the next number.
func newFeistel(m int, source *rand.ChaCha8) *feistel {
	low, high := m/2, m-m/2
	f := &feistel{low: low}
	from, to := low, high
	for i := range f.functions {
		values := make([]uint16, 1<<from)
		for x := range values {
			values[x] = uint16(source.Uint64() >> (64 - to))
		}
		f.functions[i] = values
		from, to = to, from
	}
	return f
}

// of returns the number that x is sent to.
func (f *feistel) of(x uint32) uint32 {
	high, low := x>>f.low, x&(1<<f.low-1)
	for i := 0; i < feistelRounds; i += 2 {
		high ^= uint32(f.functions[i][low])
		low ^= uint32(f.functions[i+1][high])
	}
	return high<<f.low | low
}

// fill is of for the numbers from first on. The rounds are written out: no number waits for
// another, and a processor is at a dozen of them at a time.
func (f *feistel) fill(dst []uint32, first uint32) {
	f0, f1, f2, f3 := f.functions[0], f.functions[1], f.functions[2], f.functions[3]
	f4, f5, f6, f7 := f.functions[4], f.functions[5], f.functions[6], f.functions[7]
	shift := f.low & 31
	mask := uint32(1)<<shift - 1
	for i := range dst {
		x := first + uint32(i)
		high, low := x>>shift, x&mask
		high ^= uint32(f0[low])
		low ^= uint32(f1[high])
		high ^= uint32(f2[low])
		low ^= uint32(f3[high])
		high ^= uint32(f4[low])
		low ^= uint32(f5[high])
		high ^= uint32(f6[low])
		low ^= uint32(f7[high])
		dst[i] = high<<shift | low
	}
}
