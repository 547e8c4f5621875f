package trainer

import (
	"math"
	"math/rand/v2"
	"testing"
)

// draws are the first numbers of a stream.
func draws(rng *rand.Rand) (out [4]uint64) {
	for i := range out {
		out[i] = rng.Uint64()
	}
	return out
}

// Equal draws of different streams have probability 2^-256.
func TestStreamsOfASeed(t *testing.T) {
	if first, second := draws(Seed(0).Client(1)), draws(Seed(0).Client(1)); first == second {
		t.Error("without a seed two streams are the same")
	}
	seen := map[[4]uint64]bool{}
	for _, seed := range []Seed{7, 8, 7 << 32, math.MaxUint64} {
		for name, stream := range map[string]func() *rand.Rand{
			"init": seed.Init, "order": seed.Order,
			"client 0":    func() *rand.Rand { return seed.Client(0) },
			"client 1":    func() *rand.Rand { return seed.Client(1) },
			"client 2^40": func() *rand.Rand { return seed.Client(1 << 40) },
		} {
			d := draws(stream())
			if d != draws(stream()) {
				t.Errorf("seed %d, %s: the stream does not repeat", seed, name)
			}
			if seen[d] {
				t.Errorf("seed %d, %s: another stream is the same", seed, name)
			}
			seen[d] = true
		}
	}
}

func TestPublicSeedsDifferByRound(t *testing.T) {
	for _, seed := range []Seed{0, 7} {
		seen := map[[32]byte]bool{}
		words := map[[8]byte]bool{}
		for i := range 20 {
			s := seed.PublicSeed(i)
			seen[s] = true
			for k := 0; k < len(s); k += 8 {
				words[[8]byte(s[k:])] = true
			}
		}
		if len(seen) != 20 || len(words) != 80 {
			t.Errorf("seed %d: 20 rounds have %d public seeds of %d different words, want 20 and 80", seed, len(seen), len(words))
		}
	}
	if first, second := Seed(7).PublicSeed(3), Seed(7).PublicSeed(3); first != second {
		t.Error("a seeded run has two public seeds for one round")
	}
}
