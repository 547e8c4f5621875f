package privunit

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/hushgrad/hushgrad/internal/splitmix"
	"github.com/hushgrad/hushgrad/sparse"
)

// candidates are the public candidates of all seeds: vectors of signs, 64 to a word. A bit 1 is the
// sign −1. The words of a seed's candidates follow one another in a stream of SplitMix64. It is fast, any of
// its words can be computed alone, and it is the same on every platform. Nothing but accuracy rests on it.
type candidates struct {
	key0, key1 uint64
	words      int // of a candidate
}

func newCandidates(key [32]byte, padded int) candidates {
	return candidates{binary.LittleEndian.Uint64(key[:]), binary.LittleEndian.Uint64(key[8:]), padded / 64}
}

// start returns the stream's state before the words of candidate i of a seed.
func (c candidates) start(seed, i uint32) uint64 {
	return splitmix.Keyed(c.key0, c.key1, seed) + splitmix.Gamma*uint64(i)*uint64(c.words)
}

// word returns word w of the candidate that begins at start.
func word(start uint64, w int) uint64 { return splitmix.Mix(start + splitmix.Gamma*uint64(w+1)) }

// planeCount is the number of bits to which rotated coordinates are rounded. Of a spread vector the
// rounding turns the direction by less than 0.0005.
const planeCount = 12

// column holds 64 rotated coordinates, a bit of each in every word.
type column struct {
	negative uint64
	planes   [planeCount]uint64 // of absolute values, the highest bit first
}

// setColumns rounds the rotated vector to planeCount bits and a sign. Its length is a multiple of 64, and
// it is not 0.
func setColumns(columns []column, rotated []float64) {
	largest := 0.0
	for _, v := range rotated {
		largest = max(largest, math.Abs(v))
	}
	unit := 1.0
	if largest < 0x1p-900 { // the quotient would be infinite
		unit = 0x1p900
	}
	levels := (1<<planeCount - 1) / (largest * unit)
	for w := range columns {
		c := column{}
		for first := 0; first < 64; first += 8 {
			low, high := uint64(0), uint64(0) // bytes of eight levels
			for b, v := range rotated[64*w+first : 64*w+first+8] {
				level := uint64(int64(math.Abs(v)*unit*levels + 0.5))
				c.negative |= math.Float64bits(v) >> 63 << (first + b)
				low |= level & 0xff << (8 * b)
				high |= level >> 8 << (8 * b)
			}
			low, high = transposed(low), transposed(high)
			for bit := range 8 {
				c.planes[planeCount-1-bit] |= low >> (8 * bit) & 0xff << first
			}
			for bit := range planeCount - 8 {
				c.planes[planeCount-9-bit] |= high >> (8 * bit) & 0xff << first
			}
		}
		columns[w] = c
	}
}

// transposed returns the bytes in which bit j of byte i is bit i of byte j (Warren, Hacker's Delight, 7-3).
func transposed(x uint64) uint64 {
	x ^= swapped(x, 7, 0x00AA00AA00AA00AA)
	x ^= swapped(x, 14, 0x0000CCCC0000CCCC)
	return x ^ swapped(x, 28, 0x00000000F0F0F0F0)
}

// swapped returns what to add to x so that each bit of a mask changes places with the bit that is places higher.
func swapped(x uint64, places int, mask uint64) uint64 {
	differ := (x ^ x>>places) & mask
	return differ ^ differ<<places
}

// setOpposed sets opposed[i] to the sum of the absolute values of the coordinates whose sign is not the sign of
// candidate i. The scalar product is the sum of all of them minus twice that.
// O(words·len(opposed)).
func (c candidates) setOpposed(opposed []uint64, columns []column, seed uint32) {
	clear(opposed)
	step := splitmix.Gamma * uint64(c.words)
	for w := range columns {
		negative, p := columns[w].negative, &columns[w].planes
		state := c.start(seed, 0) + splitmix.Gamma*uint64(w+1)
		for i := range opposed {
			differ := splitmix.Mix(state) ^ negative
			state += step
			// Most of a report's time is spent here. A loop over the planes takes half as long again.
			sum := bits.OnesCount64(differ & p[0])
			sum = 2*sum + bits.OnesCount64(differ&p[1])
			sum = 2*sum + bits.OnesCount64(differ&p[2])
			sum = 2*sum + bits.OnesCount64(differ&p[3])
			sum = 2*sum + bits.OnesCount64(differ&p[4])
			sum = 2*sum + bits.OnesCount64(differ&p[5])
			sum = 2*sum + bits.OnesCount64(differ&p[6])
			sum = 2*sum + bits.OnesCount64(differ&p[7])
			sum = 2*sum + bits.OnesCount64(differ&p[8])
			sum = 2*sum + bits.OnesCount64(differ&p[9])
			sum = 2*sum + bits.OnesCount64(differ&p[10])
			sum = 2*sum + bits.OnesCount64(differ&p[11])
			opposed[i] += uint64(sum)
		}
	}
}

// fullTally is how many reports are tallied at once: what 8 bits can count.
const fullTally = 255

// group is how many words are added at once: what 4 bits can count.
const group = 15

// tally adds to counts[t] how many of at most fullTally reported candidates have the sign −1 at rotated
// coordinate t. For each 64 coordinates it counts with 64 counters of 8 bits that lie across
// eight words, so that a report costs about six operations on words. O(words·len(reports)).
func (c candidates) tally(counts []uint32, reports []sparse.Report) {
	var starts [fullTally]uint64
	for i, r := range reports {
		starts[i] = c.start(r.Seed, r.Slot)
	}
	for w := range c.words {
		var counter [8]uint64
		for first := 0; first < len(reports); first += group {
			var words [group]uint64
			for i, start := range starts[first:min(first+group, len(reports))] {
				words[i] = word(start, w)
			}
			counter = plus(counter, sum(&words))
		}
		for b := range 64 {
			n := uint64(0)
			for i, plane := range counter {
				n |= plane >> b & 1 << i
			}
			counts[64*w+b] += uint32(n)
		}
	}
}

// add is a full adder in each of 64 places.
func add(a, b, c uint64) (low, high uint64) {
	differ := a ^ b
	return differ ^ c, a&b | differ&c
}

// sum counts the ones of 15 words in each of 64 places.
func sum(w *[group]uint64) (planes [4]uint64) {
	a, a2 := add(w[0], w[1], w[2])
	b, b2 := add(w[3], w[4], w[5])
	c, c2 := add(w[6], w[7], w[8])
	d, d2 := add(w[9], w[10], w[11])
	e, e2 := add(w[12], w[13], w[14])
	f, f2 := add(a, b, c)
	ones, g2 := add(d, e, f)
	h, h4 := add(a2, b2, c2)
	i, i4 := add(d2, e2, f2)
	twos, j4 := add(g2, h, i)
	fours, eights := add(h4, i4, j4)
	return [4]uint64{ones, twos, fours, eights}
}

// plus adds 64 numbers of 4 bits to counters of 8 bits.
func plus(counter [8]uint64, n [4]uint64) [8]uint64 {
	carry := uint64(0)
	for i := range n {
		counter[i], carry = add(counter[i], n[i], carry)
	}
	for i := len(n); i < len(counter); i++ {
		counter[i], carry = counter[i]^carry, counter[i]&carry
	}
	return counter
}
