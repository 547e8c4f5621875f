package gaussian

import (
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// sharing splits vectors of integers into one share for each of two servers. It is immutable and safe for concurrent use.
type sharing interface {
	// shareBytes is the length of every share for a server.
	shareBytes(side fl.ShareSide) int
	// split appends the shares of a vector.
	split(first, second []byte, x []int64, rng *rand.Rand) ([]byte, []byte)
	// check refuses what is no share for a server, of the right length. The error is a bad report's.
	check(side fl.ShareSide, share []byte) error
	// open is check, and returns what a share stands for: a packed vector of the sums.
	open(side fl.ShareSide, share []byte) ([]byte, error)
	// newSum returns an empty sum of opened shares.
	newSum() sum
}

// sum is a sum of opened shares, or of the shares of both servers: one number of a finite group for each rotated coordinate.
type sum interface {
	// add adds a packed vector, and says whether it was one: a false changes nothing.
	add(packed []byte) bool
	merge(other sum)
	clone() sum
	// disturb adds noise to every coordinate.
	disturb(n noise, rng *rand.Rand)
	// packedBytes is the length of what pack appends.
	packedBytes() int
	pack(dst []byte) []byte
	// values returns the sum of the vectors of which both shares were added.
	values() []float64
}
