package trainer

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// Seed is the source of a whole run's randomness, for experiments.
//
// With the Seed 0 every generator is a fresh fl.NewRand. Any other value makes the run
// repeatable, and voids every guarantee: a party that knows the seed knows the noise.
// Each generator depends on the seed, its use and its index alone, so that a run repeats
// whatever the number of cores.
type Seed uint64

// Uses of a run's randomness. Each gives streams of its own.
const (
	forInit = iota + 1
	forOrder
	forPublicSeed
	forClient
)

// Init returns the generator of the first model.
func (s Seed) Init() *rand.Rand { return s.stream(forInit, 0) }

// Order returns the generator that deals the examples out to the clients.
func (s Seed) Order() *rand.Rand { return s.stream(forOrder, 0) }

// Client returns the generator of one participation of one client: see Clients for
// the number of a turn. A client that takes part again draws anew.
func (s Seed) Client(turn int) *rand.Rand { return s.stream(forClient, uint64(turn)) }

// PublicSeed returns the public randomness of a round.
func (s Seed) PublicSeed(round int) (seed [32]byte) {
	rng := s.stream(forPublicSeed, uint64(round))
	for i := range 4 {
		binary.LittleEndian.PutUint64(seed[8*i:], rng.Uint64())
	}
	return seed
}

func (s Seed) stream(use, index uint64) *rand.Rand {
	if s == 0 {
		return fl.NewRand()
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], uint64(s))
	binary.LittleEndian.PutUint64(key[8:], use)
	binary.LittleEndian.PutUint64(key[16:], index)
	return rand.New(rand.NewChaCha8(key))
}
