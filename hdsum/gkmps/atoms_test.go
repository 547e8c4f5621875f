package gkmps

import (
	"math"
	"slices"
	"testing"
)

func TestAtomsSumToZero(t *testing.T) {
	const bound = 65
	seen := map[int64]bool{}
	for _, i := range allAtoms(bound) {
		m := messages(nil, i)
		var sum int64
		for _, v := range m {
			sum += v
			if v == 0 || v > bound || v < -bound {
				t.Errorf("atom %d: message %d", i, v)
			}
		}
		if sum != 0 || m[0] != i {
			t.Errorf("atom %d: messages %v", i, m)
		}
		if i > 1 {
			half := float64(i) / 2
			if want := []int64{i, -int64(math.Ceil(half)), -int64(math.Floor(half))}; !slices.Equal(m, want) {
				t.Errorf("atom %d: messages %v, want %v", i, m, want)
			}
			minus := messages(nil, -i)
			half = -half
			if want := []int64{-i, -int64(math.Ceil(half)), -int64(math.Floor(half))}; !slices.Equal(minus, want) {
				t.Errorf("atom %d: messages %v, want %v", -i, minus, want)
			}
		}
		seen[i] = true
	}
	if len(seen) != 2*bound-1 {
		t.Errorf("%d different atoms, want %d", len(seen), 2*bound-1)
	}
}

// The atoms of Certified are those that occur in the column of some input.
func TestUsedAtomsAreTheReachedOnes(t *testing.T) {
	for bound := int64(2); bound <= 130; bound++ {
		var reached []int64
		for x := int64(1); x <= bound; x++ {
			for _, e := range column(nil, x) {
				if !slices.Contains(reached, e.atom) {
					reached = append(reached, e.atom)
				}
			}
		}
		used := usedAtoms(bound)
		slices.Sort(reached)
		slices.Sort(used)
		if !slices.Equal(reached, used) {
			t.Fatalf("U = %d: reached %v, used %v", bound, reached, used)
		}
	}
}
