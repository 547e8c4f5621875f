package sparse

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// cosetOf returns a coset of 2^dim places of placeBits bits in the form that sweep.add asks for.
func cosetOf(rng *rand.Rand, placeBits, dim int) (point uint32, basis []uint32) {
	free := uint32(0)
	for bits.OnesCount32(free) < dim {
		free |= 1 << rng.IntN(placeBits)
	}
	for rest := free; rest != 0; rest &= rest - 1 {
		highest := rest & -rest
		basis = append(basis, highest|rng.Uint32()&(highest-1)&^free)
	}
	return rng.Uint32N(1<<placeBits) &^ free, basis
}

// Block by block, a sweep counts what walking coset by coset counts: for every number of blocks
// and of vectors, with more cosets than it collects, and for cosets without points in most blocks.
func TestSweepCountsAsAWalk(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{5}))
	const placeBits = 9
	for dim := 2; dim <= placeBits; dim++ {
		for numbers := 0; numbers <= dim-2; numbers++ {
			swept, walked := newSweep(placeBits, dim), newSweep(placeBits, dim)
			swept.blockBits = placeBits - numbers
			for range sweepCosets/8 + 100 {
				point, basis := cosetOf(rng, placeBits, dim)
				swept.add(point, basis)
				walked.walk(point, basis)
			}
			swept.settle()
			for place := range uint32(1 << placeBits) {
				if got, want := swept.at(place), walked.at(place); got != want {
					t.Fatalf("%d vectors, 2^%d blocks, place %d: %d, want %d", dim, numbers, place, got, want)
				}
			}
		}
	}
}

// Sums grow beyond their bytes by additions one by one and in fours, upwards and downwards, and merge.
func TestSumsGrowBeyondTheirBytes(t *testing.T) {
	const times = 100_000
	walked := newSweep(4, 2)
	swept := newSweep(8, 4)
	swept.blockBits = 6
	direct, short := newScatter(8), newScatter(1<<19)
	up, down := uint32(3<<1), uint32(1<<18<<1|1)
	for range times {
		walked.walk(5, []uint32{1, 2})
		swept.add(0b101, []uint32{1, 2, 1 << 6, 1 << 7})
		direct.add([]uint32{up, 4<<1 | 1}, 0)
		short.add([]uint32{up ^ 1, down ^ 1}, 1)
	}
	swept.settle()
	for i := range 2 {
		n := int32(times << i)
		got := []int32{walked.at(4), walked.at(8), swept.at(0b1000_0110), swept.at(0b0100_0101), swept.at(8), direct.at(3), direct.at(4), short.at(3), short.at(1 << 18), short.at(4)}
		if want := []int32{n, 0, n, n, 0, n, -n, n, -n, 0}; !slices.Equal(got, want) {
			t.Errorf("%d times: %v, want %v", n, got, want)
		}
		walked.merge(walked.sums)
		swept.merge(swept.sums)
		direct.merge(direct.sums)
		short.merge(short.sums)
	}
	if m := direct.magnitude(); m != 8*times {
		t.Errorf("magnitude %d", m)
	}
}

// What is put is there, at the borders of its bytes, too.
func TestSumsTakeAnyNumber(t *testing.T) {
	t.Run("1 byte", takesAnyNumber[int8])
	t.Run("2 bytes", takesAnyNumber[int16])
}

func takesAnyNumber[N short](t *testing.T) {
	s := newSums[N](4)
	for _, border := range []int32{0, 1, 1 << 6, 1 << 7, 1 << 8, 1 << 14, 1 << 15, 1 << 16, 1e9} {
		for _, v := range []int32{border - 1, border, border + 1, -border - 1, -border, -border + 1} {
			before := s.at(2)
			s.put(2, v)
			if got := s.at(2); got != before+v {
				t.Errorf("%d + %d = %d", before, v, got)
			}
			if full(s.low[2]) < 0 {
				t.Errorf("%d is left in the short sum", s.low[2])
			}
			s.put(2, -v)
		}
	}
}

// A sum of a four grows beyond 2 bytes when the others of its four are small, whichever it is.
func TestOneOfAFourGrowsBeyondTwoBytes(t *testing.T) {
	const times = 100_000
	// Of each pair of cosets, one point is in both, and at the same position of the four.
	for position, pair := range [4][2][3]uint32{
		{{0, 8, 16}, {0, 9, 18}}, {{0, 8, 16}, {1, 9, 18}}, {{0, 8, 16}, {1, 10, 17}}, {{2, 8, 16}, {1, 9, 18}},
	} {
		s := newSweep(8, 4)
		s.blockBits = 6
		both := [4]uint32{0, 8, 16, 26}[position]
		for i := range times {
			p := pair[i&1]
			s.add(p[0], []uint32{p[1], p[2], 1 << 6, 1 << 7})
		}
		s.settle()
		if got := s.at(both); got != times {
			t.Errorf("position %d: %d, want %d", position, got, times)
		}
	}
}
