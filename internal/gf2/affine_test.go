package gf2

import (
	"fmt"
	"math"
	"testing"
)

// There are (8−1)(8−2) = 42 matrices of full rank from 3 to 2 bits: each must come
// equally often, and so must every offset, character and flip.
// χ² tests: P[χ²(41) > 120] = 1e-9, P[χ²(63) > 150] = 4e-9.
func TestDrawIsUniformOverFullRank(t *testing.T) {
	e, err := NewExpander(3, 2, 11, 12)
	if err != nil {
		t.Fatal(err)
	}
	a := e.NewAffine()
	matrices, rest := map[[2]uint32]int{}, map[[3]uint32]int{}
	const draws = 42 * 64 * 20
	for seed := range uint32(draws) {
		e.Draw(a, seed)
		matrices[[2]uint32(a.Rows)]++
		rest[[3]uint32{a.Offset, a.Character, a.Flip}]++
	}
	check := func(name string, cells int, limit float64, counts []int) {
		want, chi2 := draws/float64(cells), 0.0
		for _, n := range counts {
			chi2 += (float64(n) - want) * (float64(n) - want) / want
		}
		if len(counts) != cells || chi2 > limit {
			t.Errorf("%s: %d values, χ² = %.1f, want %d values and at most %g", name, len(counts), chi2, cells, limit)
		}
	}
	values := func(m map[[2]uint32]int) (out []int) {
		for _, n := range m {
			out = append(out, n)
		}
		return out
	}
	check("matrices", 42, 120, values(matrices))
	var others []int
	for _, n := range rest {
		others = append(others, n)
	}
	check("offset, character and flip", 64, 150, others)
	for rows := range matrices {
		if rows[0] == 0 || rows[1] == 0 || rows[0] == rows[1] {
			t.Errorf("rows %v do not have full rank", rows)
		}
	}
}

// A fixed pair of distinct labels falls together with probability
// (2^(m−k)−1)/(2^m−1), however the labels are related; 6 pairs at 5.5σ.
func TestPairsCollideAsTheFormulaSays(t *testing.T) {
	const m, k, draws = 7, 3, 200_000
	e, err := NewExpander(m, k, 5, 6)
	if err != nil {
		t.Fatal(err)
	}
	pairs := [][2]uint32{{0, 1}, {1, 2}, {64, 65}, {127, 0}, {85, 42}, {3, 96}}
	hits, signs := make([]int, len(pairs)), make([]int, len(pairs))
	a := e.NewAffine()
	for seed := range uint32(draws) {
		e.Draw(a, seed)
		for i, p := range pairs {
			if a.Apply(p[0]) == a.Apply(p[1]) {
				hits[i]++
			}
			if a.SignBit(p[0]) == a.SignBit(p[1]) {
				signs[i]++
			}
		}
	}
	p := float64(1<<(m-k)-1) / float64(1<<m-1)
	for i := range pairs {
		if z := (float64(hits[i]) - draws*p) / math.Sqrt(draws*p*(1-p)); math.Abs(z) > 5.5 {
			t.Errorf("labels %v fall together %d times, %.1fσ off", pairs[i], hits[i], z)
		}
		if z := (float64(signs[i]) - draws/2) / math.Sqrt(draws/4); math.Abs(z) > 5.5 {
			t.Errorf("labels %v have equal signs %d times, %.1fσ off", pairs[i], signs[i], z)
		}
	}
}

func TestNewExpanderRefuses(t *testing.T) {
	for _, c := range [][2]int{{0, 0}, {MaxBits + 1, 1}, {5, 6}, {5, -1}} {
		if _, err := NewExpander(c[0], c[1], 0, 0); err == nil {
			t.Errorf("%d to %d bits: want an error", c[0], c[1])
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, c := range [][2]int{{11, 4}, {21, 4}, {11, 11}, {21, 13}} {
		e, err := NewExpander(c[0], c[1], 1, 2)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("m=%d/k=%d", c[0], c[1]), func(b *testing.B) {
			a := e.NewAffine()
			for i := range b.N {
				e.Draw(a, uint32(i))
			}
		})
	}
}
