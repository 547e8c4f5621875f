package fl

import (
	crand "crypto/rand"
	"math/rand/v2"
)

// NewRand returns a generator for private randomness: ChaCha8 keyed with 32
// bytes from the operating system. It is not safe for concurrent use; make one
// per goroutine.
func NewRand() *rand.Rand {
	var key [32]byte
	// crypto/rand.Read never fails: it ends the program if the system has no randomness.
	_, _ = crand.Read(key[:])
	return rand.New(rand.NewChaCha8(key))
}
