package sparse

import "math/bits"

// sweep counts the points of cosets, that is of affine subspaces, place by place. Where the sums
// are too many for a processor's own cache, it collects cosets and counts them block of places by
// block of places: all additions of a block are then near the core, and everything else is read
// in order.
//
// A coset is counted in fours of points: first, first ⊕ v0, first ⊕ v1 and first ⊕ v0 ⊕ v1. The
// other vectors of its basis lead from one four to the next, in the order of a Gray code, which
// is the same for all cosets. It goes to the next block last. The highest bit of each vector is in
// no other, and a vector whose highest bit is inside of a block stays in the block. Hence
// most cosets have a vector for every bit of a block's number, and change blocks together.
//
// Where a coset has no vector for a bit of the number, because the other bits decide it, it is
// outside of half of the blocks and counts nothing there. For that it has a vector more inside of
// the block. It is collected as two cosets, one beside the other, along this vector.
type sweep struct {
	*sums[int16]
	blockBits int
	dim       int        // vectors in the basis of a coset
	first     []uint32   // of the cosets that were collected, a point
	vectors   [][]uint32 // of each, v0, v1 and the vectors from four to four
}

const (
	blockBits   = 16    // 2^16 sums of 2 bytes: 128 KiB
	sweepCosets = 16384 // that are collected, at most
)

// newSweep counts cosets of 2^dim places among 2^bits.
func newSweep(placeBits, dim int) *sweep {
	s := &sweep{sums: newSums[int16](1 << placeBits), blockBits: placeBits, dim: dim}
	if numbers := min(placeBits-blockBits, dim-2); numbers > 0 {
		s.blockBits = placeBits - numbers
	}
	return s
}

// add counts the coset of a point and a basis in ascending order. The highest bit of a vector
// of the basis is in none of the others, nor in the point.
func (s *sweep) add(point uint32, basis []uint32) {
	if s.blockBits == bits.Len(uint(len(s.low)-1)) {
		s.walk(point, basis)
		return
	}
	numbers := bits.Len(uint(len(s.low)-1)) - s.blockBits
	if s.vectors == nil {
		s.first = make([]uint32, 0, sweepCosets)
		s.vectors = make([][]uint32, s.dim)
		const apart = sweepCosets + 48 // words: the vectors of a coset shall not meet in a cache
		all := make([]uint32, s.dim*apart)
		for i := range s.vectors {
			s.vectors[i] = all[i*apart:][:sweepCosets]
		}
	}
	inside := len(basis)
	for inside > 0 && basis[inside-1]>>s.blockBits != 0 {
		inside--
	}
	every := s.dim - numbers // vectors inside of the block that each coset has
	more := basis[every:inside]
	for i := range uint32(1) << len(more) {
		if i > 0 {
			point ^= more[bits.TrailingZeros32(i)]
		}
		s.collect(point, basis[:every], basis[inside:])
	}
}

// walk counts a coset at once.
func (s *sweep) walk(point uint32, basis []uint32) {
	low := s.low
	for i := uint32(1); ; i++ {
		sum := low[point] + 1
		low[point] = sum
		if full(sum) < 0 {
			s.spillFull(point)
		}
		if i == 1<<len(basis) {
			return
		}
		point ^= basis[bits.TrailingZeros32(i)]
	}
}

// collect puts a coset by for later.
func (s *sweep) collect(point uint32, inside, across []uint32) {
	if len(s.first) == sweepCosets {
		s.settle()
	}
	at := len(s.first)
	s.first = append(s.first, point)
	for i, v := range inside {
		s.vectors[i][at] = v
	}
	for i := range s.vectors[len(inside):] {
		v := uint32(0)
		if len(across) > 0 && across[0]>>(s.blockBits+i) == 1 {
			v, across = across[0], across[1:]
		}
		s.vectors[len(inside)+i][at] = v
	}
}

// settle counts what was collected.
func (s *sweep) settle() {
	if len(s.first) == 0 {
		return
	}
	steps := s.vectors[2:]
	inside := len(steps) - (bits.Len(uint(len(s.low)-1)) - s.blockBits)
	block, still := uint32(0), make([]uint32, len(s.first))
	for i := range uint32(1) << len(steps) {
		step := still
		if i > 0 {
			number := bits.TrailingZeros32(i)
			if number >= inside {
				block ^= 1 << (number - inside)
			}
			step = steps[number]
		}
		s.fours(block<<s.blockBits, step, s.vectors[0], s.vectors[1])
	}
	s.first = s.first[:0]
}

// fours goes a step on from the first points, and counts the fours that are in the block from a
// place on.
func (s *sweep) fours(from uint32, step, v0, v1 []uint32) {
	first, block := s.first, s.low[from:from+1<<s.blockBits]
	last := uint32(len(block) - 1)
	step, v0, v1 = step[:len(first)], v0[:len(first)], v1[:len(first)]
	for i, point := range first {
		point ^= step[i]
		first[i] = point
		a := point ^ from
		one := int16(0)
		if a <= last { // without a branch to mispredict
			one = 1
		}
		a &= last
		b, c := a^v0[i], a^v1[i]
		d := b ^ v1[i]
		sumA, sumB, sumC, sumD := block[a]+one, block[b]+one, block[c]+one, block[d]+one
		block[a], block[b], block[c], block[d] = sumA, sumB, sumC, sumD
		if (sumA|sumB|sumC|sumD)&limit[int16]() != 0 { // one of them may be full
			for _, at := range [4]uint32{a, b, c, d} {
				s.spillFull(from | at)
			}
		}
	}
}
