package main

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// Uses of a seeded run's randomness. Each gives streams of its own.
const (
	forInit = iota + 1
	forAssignment
	forPublicSeed
	forClient
)

// stream returns the generator for one use. Without a seed it is fresh, keyed
// by the operating system; with one it depends on the seed, the use and the
// index alone, so that a run repeats whatever the number of cores.
func (c config) stream(use, index uint64) *rand.Rand {
	if c.seed == 0 {
		return fl.NewRand()
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], c.seed)
	binary.LittleEndian.PutUint64(key[8:], use)
	binary.LittleEndian.PutUint64(key[16:], index)
	return rand.New(rand.NewChaCha8(key))
}

func (c config) publicSeed(round int) (seed [32]byte) {
	rng := c.stream(forPublicSeed, uint64(round))
	for i := range 4 {
		binary.LittleEndian.PutUint64(seed[8*i:], rng.Uint64())
	}
	return seed
}
