package succinct

import (
	"math"

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
