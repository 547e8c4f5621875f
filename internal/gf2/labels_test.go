package gf2

import (
	"slices"
	"testing"
)

func TestLabelsAreAUniformPermutation(t *testing.T) {
	l, err := NewLabels(1000, [32]byte{1})
	if err != nil || l.Bits() != 10 {
		t.Fatalf("%v, %v bits", err, l.Bits())
	}
	all := slices.Clone(l.drawn)
	slices.Sort(all)
	for i, v := range all {
		if v != uint32(i) {
			t.Fatalf("not a permutation: %d at %d", v, i)
		}
	}
	// Each of the 24 permutations of 4 labels: χ² with 23 degrees of freedom over
	// 24 000 keys, P[χ² > 85] = 5e-9.
	counts := map[[4]uint32]int{}
	for i := range 24_000 {
		l, err := NewLabels(4, [32]byte{byte(i), byte(i >> 8), 7})
		if err != nil {
			t.Fatal(err)
		}
		counts[[4]uint32(l.drawn)]++
	}
	chi2 := 0.0
	for _, n := range counts {
		chi2 += float64((n-1000)*(n-1000)) / 1000
	}
	if len(counts) != 24 || chi2 > 85 {
		t.Errorf("%d permutations, χ² = %.1f", len(counts), chi2)
	}
	for _, keys := range []int{0, -1, 1<<MaxBits + 1} {
		if _, err := NewLabels(keys, [32]byte{}); err == nil {
			t.Errorf("%d keys: want an error", keys)
		}
	}
}

// All parties of a round must have the same labels. Computed by this code when the
// format was fixed. docs/report-format.md has the labels of 100 000 keys.
func TestLabelsArePinned(t *testing.T) {
	key := [32]byte{1, 2, 3, 4, 5, 6, 7, 8}
	for keys, want := range map[int][8]uint32{
		1000:       {472, 793, 776, 949, 284, 556, 577, 959},
		100_000:    {11940, 17003, 60215, 28866, 60756, 2158, 128591, 62236},
		10_000_000: {3681688, 7334755, 12247774, 6063035, 14296483, 2268092, 6948081, 12860398},
	} {
		l, err := NewLabels(keys, key)
		if err != nil {
			t.Fatal(err)
		}
		var got [8]uint32
		if l.Fill(got[:], 0); got != want {
			t.Errorf("%d keys: labels %v, want %v", keys, got, want)
		}
	}
}

// From 2^16 keys on to 2^16 + 1 the labels begin to be computed.
func TestComputedLabelsAreAPermutation(t *testing.T) {
	for _, keys := range []int{1 << 16, 1<<16 + 1, 1 << 18, 1<<18 + 1} {
		l, err := NewLabels(keys, [32]byte{5})
		if err != nil {
			t.Fatal(err)
		}
		if computed := l.computed != nil; computed != (keys > 1<<16) {
			t.Errorf("%d keys: computed %v", keys, computed)
		}
		met := make([]bool, 1<<l.Bits())
		for key := range uint32(1) << l.Bits() {
			label := l.Of(key)
			if met[label] {
				t.Fatalf("%d keys: label %d comes twice", keys, label)
			}
			met[label] = true
		}
	}
}

func TestFillGivesTheLabelsInOrder(t *testing.T) {
	for _, keys := range []int{1000, 1 << 17, 1 << 20, 1<<MaxBits - 1} {
		l, err := NewLabels(keys, [32]byte{6})
		if err != nil {
			t.Fatal(err)
		}
		for _, first := range []uint32{0, 1, uint32(keys) - 900} {
			filled := make([]uint32, 900)
			l.Fill(filled, first)
			for i, label := range filled {
				if want := l.Of(first + uint32(i)); label != want {
					t.Fatalf("%d keys: key %d has label %d, filled %d", keys, first+uint32(i), want, label)
				}
			}
		}
	}
}
