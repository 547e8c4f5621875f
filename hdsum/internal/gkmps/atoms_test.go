package gkmps

import (
	"maps"
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

func columnMap(x int64) map[int64]int64 {
	m := map[int64]int64{}
	for _, e := range column(nil, x) {
		m[e.atom] += e.count
	}
	return m
}

// Columns computed independently from the recursion, by hand and in Python.
func TestColumns(t *testing.T) {
	for x, want := range map[int64]map[int64]int64{
		1:  {},
		-1: {1: 1},
		2:  {2: 1, 1: -2},
		3:  {3: 1, -2: -1, 1: -1},
		4:  {4: 1, -2: -2},
		7:  {7: 1, -4: -1, -3: -1, 2: 3, 1: -6},
		8:  {8: 1, -4: -2, 2: 4, 1: -8},
	} {
		if got := columnMap(x); !maps.Equal(got, want) {
			t.Errorf("c_%d = %v, want %v", x, got, want)
		}
	}
}

// Ã·C = I in integers: the atoms of c_x add up to one message x, apart from +1.
// An entry appears once, so that |C| can be summed term by term.
func TestRightInverse(t *testing.T) {
	const bound = 512
	for x := int64(-bound); x <= bound; x++ {
		if x == 0 {
			continue
		}
		total := map[int64]int64{}
		entries := column(nil, x)
		for _, e := range entries {
			for _, v := range messages(nil, e.atom) {
				total[v] += e.count
			}
		}
		if len(columnMap(x)) != len(entries) {
			t.Fatalf("c_%d lists an atom twice: %v", x, entries)
		}
		delete(total, 1)
		total[x]--
		if x == 1 {
			delete(total, 1)
		}
		for v, n := range total {
			if n != 0 {
				t.Fatalf("c_%d: %d messages %d too many", x, n, v)
			}
		}
	}
}

// Σ_s |C_{s,x}|·|s| <= Γ for every input. The bound is attained at 8 and 512, and
// with the natural logarithm in Γ it would be false at 6, 7 and 17.
func TestDominance(t *testing.T) {
	norm := int64(0) // maximum over the columns so far
	natural := map[int64]bool{}
	for bound := int64(2); bound <= 512; bound++ {
		var sum int64
		for _, e := range column(nil, bound) {
			sum += max(e.atom, -e.atom) * max(e.count, -e.count)
		}
		norm = max(norm, sum)
		gamma := dominance(bound)
		if norm > gamma {
			t.Fatalf("U = %d: norm %d exceeds Γ = %d", bound, norm, gamma)
		}
		if (bound == 8 || bound == 512) && norm != gamma {
			t.Errorf("U = %d: norm %d, want Γ = %d", bound, norm, gamma)
		}
		if norm > bound*int64(math.Ceil(math.Log(float64(bound)))+1) {
			natural[bound] = true
		}
	}
	for _, bound := range []int64{6, 7, 17} {
		if !natural[bound] {
			t.Errorf("U = %d: the natural logarithm suffices, want it to fail", bound)
		}
	}
	for _, bound := range []int64{2, 3, 4, 5} {
		if natural[bound] {
			t.Errorf("U = %d: the natural logarithm fails, want 6 to be the first", bound)
		}
	}
}
