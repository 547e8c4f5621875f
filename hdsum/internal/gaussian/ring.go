package gaussian

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/hushgrad/hushgrad/fl"
)

// seedBytes is the length of a seed, the key of AES-256.
const seedBytes = 32

// maxBits keeps a number and the seven bits before it within 64 bits.
const maxBits = 56

// ring is the integers modulo 2^bits, length of them in a vector.
type ring struct{ bits, length int }

// newRing returns the smallest ring that tells ±largest apart.
func newRing(length int, largest float64) (ring, error) {
	if !(largest < 1<<(maxBits-1)) {
		return ring{}, fl.Invalid("levels", math.Ceil(largest), "must leave the sum of all reports and their noise below 2^%d", maxBits-1)
	}
	return ring{bits: bits.Len64(uint64(largest)) + 1, length: length}, nil
}

func (r ring) mask() uint64 { return 1<<r.bits - 1 }

// bytes is the length of a packed vector.
func (r ring) bytes() int { return (r.length*r.bits + 7) / 8 }

// signed returns the number of least absolute value that v stands for.
func (r ring) signed(v uint64) int64 {
	unused := 64 - r.bits
	return int64(v<<unused) >> unused
}

// pack appends a vector, each number in the bits after the previous number's, the lowest
// first. Unused bits of the last byte are 0.
func (r ring) pack(dst []byte, vector []uint64) []byte {
	held, n := uint64(0), 0 // fewer than 8 bits between numbers
	for _, v := range vector {
		held |= (v & r.mask()) << n
		for n += r.bits; n >= 8; n -= 8 {
			dst = append(dst, byte(held))
			held >>= 8
		}
	}
	if n > 0 {
		dst = append(dst, byte(held))
	}
	return dst
}

// at returns number i of a packed vector.
func (r ring) at(packed []byte, i int) uint64 {
	bit := i * r.bits
	rest := packed[bit/8:]
	if len(rest) < 8 {
		var last [8]byte
		copy(last[:], rest)
		rest = last[:]
	}
	return binary.LittleEndian.Uint64(rest) >> (bit % 8) & r.mask()
}

// add adds a packed vector to sums. The bits of sums above the ring's are arbitrary.
func (r ring) add(sums []uint64, packed []byte) {
	for i := range sums {
		sums[i] += r.at(packed, i)
	}
}

// wellFormed says whether packed is what pack writes.
func (r ring) wellFormed(packed []byte) bool {
	return len(packed) == r.bytes() && packed[len(packed)-1]>>r.lastBits() == 0
}

// lastBits is how many bits of the last byte are used.
func (r ring) lastBits() int { return r.length*r.bits - 8*(r.bytes()-1) }

// expand returns the packed vector of a seed, uniform to everybody who does not know the
// seed.
func (r ring) expand(seed []byte) []byte {
	block, err := aes.NewCipher(seed)
	if err != nil {
		panic(err) // only for another length than seedBytes, which every caller has checked
	}
	stream := make([]byte, r.bytes())
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(stream, stream)
	stream[len(stream)-1] &= 1<<r.lastBits() - 1
	return stream
}
