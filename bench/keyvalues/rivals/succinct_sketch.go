package rivals

import (
	"encoding/binary"
	"math"

	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/internal/splitmix"
)

// hash gives every key a sign and a bucket under every seed.
type hash struct {
	key0, key1 uint64
	limit      uint64 // 32-bit values below it are bucket 0
}

func newHash(key0, key1 uint64, buckets int) hash {
	const all = 1 << 32
	return hash{key0: key0, key1: key1, limit: (all + uint64(buckets) - 1) / uint64(buckets)}
}

// share is the probability of bucket 0: 1/buckets up to 2^−32.
func (h hash) share() float64 { return math.Ldexp(float64(h.limit), -32) }

// start returns the stream of a seed.
func (h hash) start(seed uint32) uint64 { return splitmix.Keyed(h.key0, h.key1, seed) }

// sign returns the sign of a key that is in bucket 0, and 0 for any other.
func (h hash) sign(start uint64, key uint32) int64 {
	x := splitmix.Mix(start + splitmix.Gamma*uint64(key))
	if x>>32 >= h.limit {
		return 0
	}
	return 1 - 2*int64(x&1)
}

const seedBytes = 4

// sketch is what a report says.
type sketch struct {
	seed uint32
	sum  int64 // with noise
}

// succinctCodec writes a seed and an integer of a number of bytes, two's complement.
type succinctCodec struct{ bytes int }

// limit is the largest integer.
func (c succinctCodec) limit() int64 { return math.MaxInt32 >> (32 - 8*c.bytes) }

// append moves the integer into the range of −limit to limit.
func (c succinctCodec) append(dst []byte, s sketch) []byte {
	var bytes [4]byte
	binary.LittleEndian.PutUint32(bytes[:], uint32(min(max(s.sum, -c.limit()), c.limit())))
	return append(binary.LittleEndian.AppendUint32(dst, s.seed), bytes[:c.bytes]...)
}

func (c succinctCodec) parse(report []byte) (sketch, error) {
	if len(report) != seedBytes+c.bytes {
		return sketch{}, count.BadReport("length", len(report), "must be %d bytes", seedBytes+c.bytes)
	}
	var bytes [4]byte
	copy(bytes[4-c.bytes:], report[seedBytes:])
	x := int64(int32(binary.LittleEndian.Uint32(bytes[:])) >> (32 - 8*c.bytes))
	if x < -c.limit() {
		return sketch{}, count.BadReport("integer", x, "must be at least %d", -c.limit())
	}
	return sketch{seed: binary.LittleEndian.Uint32(report), sum: x}, nil
}
