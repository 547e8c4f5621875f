package cells

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Outside must be a bijection onto the complement for every set of every size.
func TestOutsideIsABijection(t *testing.T) {
	const n = 9
	for bitsSet := range 1 << n {
		s := NewSet(n, n)
		// Members arrive in a scrambled order.
		for k := range uint32(n) {
			if cell := k * 7 % n; bitsSet>>cell&1 == 1 {
				s.Add(cell)
			}
		}
		var got []uint32
		for rank := range uint32(n - s.Len()) {
			got = append(got, s.Outside(rank))
		}
		slices.Sort(got)
		var want []uint32
		for cell := range uint32(n) {
			if bitsSet>>cell&1 == 0 {
				want = append(want, cell)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("set %09b: ranks map to %v, want %v", bitsSet, got, want)
		}
	}
}

func TestAddFindsRepeatsAndResetForgets(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{2}))
	s := NewSet(1<<30, 64)
	for range 50 {
		s.Reset()
		seen := map[uint32]int{}
		for range 64 {
			cell := rng.Uint32N(1<<30) &^ rng.Uint32N(2) >> rng.Uint32N(27)
			at, fresh := s.Add(cell)
			if want, known := seen[cell]; known == fresh || known && want != at {
				t.Fatalf("Add(%d) = (%d, %t), known before: %t at %d", cell, at, fresh, known, want)
			}
			seen[cell] = at
		}
		if s.Len() != len(seen) {
			t.Fatalf("Len() = %d, want %d", s.Len(), len(seen))
		}
	}
}
