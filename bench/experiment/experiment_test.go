package experiment_test

import (
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func TestRepeatsOr(t *testing.T) {
	if got := (experiment.Env{}).RepeatsOr(7); got != 7 {
		t.Errorf("%d repeats, want the experiment's own 7", got)
	}
	if got := (experiment.Env{Repeats: 3}).RepeatsOr(7); got != 3 {
		t.Errorf("%d repeats, want the 3 asked for", got)
	}
}

// The keys were computed independently by Python's hashlib, as the SHA-256 of the
// label and the numbers in little-endian order of 8 bytes each.
func TestStreamIsPinned(t *testing.T) {
	for name, c := range map[string]struct {
		parts []uint64
		key   string
	}{
		"seed alone": {nil, "5e5c6548f471e21c8c880991096e2114e59f78d96de8dc811d15f30b2f6e0731"},
		"two parts":  {[]uint64{1, 2}, "4b03443c3bc916d8a2a8a2c7cdcdfb5e378f70d53bed7673ab7eb64d8753bd54"},
	} {
		key, err := hex.DecodeString(c.key)
		if err != nil {
			t.Fatal(err)
		}
		got, want := experiment.Stream(7, c.parts...), rand.New(rand.NewChaCha8([32]byte(key)))
		for i := range 100 {
			if g, w := got.Uint64(), want.Uint64(); g != w {
				t.Fatalf("%s: number %d is %#x, want %#x", name, i, g, w)
			}
		}
	}
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	streams := []*rand.Rand{
		experiment.Stream(1), experiment.Stream(0), experiment.Stream(0, 0), experiment.Stream(0, 1), experiment.Stream(1, 0),
		experiment.Stream(0, 1, 2), experiment.Stream(0, 2, 1), experiment.Stream(0, 1<<8), experiment.Stream(0, 1<<63),
	}
	// Two of 9 numbers of 64 bits are equal by chance with probability 2e-18.
	for _, s := range streams {
		seen[s.Uint64()] = true
	}
	if len(seen) != len(streams) {
		t.Errorf("%d different streams of %d", len(seen), len(streams))
	}
}
