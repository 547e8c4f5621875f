package server

import (
	"github.com/hushgrad/hushgrad/fl"
)

// openingCost is decodingCost for a message of sealed reports: each becomes a unit of its own,
// with a plaintext, a key and a reason why it does not count.
func openingCost(n int) int64 {
	const unitBytes = 256
	return decodingCost(n) + unitBytes*int64(min(n/minSealedBytes, fl.MaxBatch))
}

// minSealedBytes is less than any sealed report has.
const minSealedBytes = 48

// decodingCost is the memory that a message of n bytes takes until it is counted: its bytes as
// they came, in one piece, decoded, and packed for the journal, and the slices of its reports
// while they are unpacked.
func decodingCost(n int) int64 {
	const sliceBytes = 24
	return 4*int64(n) + 2*sliceBytes*int64(min(n, fl.MaxBatch))
}
