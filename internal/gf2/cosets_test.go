package gf2

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// The coset of a value is the set of labels that the map of the seed sends there, for every shape
// and for full and partial batches; walking it in Gray code meets each label once.
func TestCosetsAgainstExhaustion(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{3}))
	for m := 1; m <= 9; m++ {
		for k := 0; k <= m; k++ {
			e, err := NewExpander(m, k, rng.Uint64(), rng.Uint64())
			if err != nil {
				t.Fatal(err)
			}
			a, c := e.NewAffine(), e.NewCosets()
			for _, n := range []int{Batch, 20, 1, 0} {
				seeds, values := make([]uint32, n), make([]uint32, n)
				for i := range seeds {
					seeds[i], values[i] = rng.Uint32(), rng.Uint32N(1<<k)
				}
				c.Solve(seeds, values)
				for i, seed := range seeds {
					e.Draw(a, seed)
					var want []uint32
					for label := range uint32(1) << m {
						if a.Apply(label) == values[i] {
							want = append(want, label)
						}
					}
					label, kernel := c.Coset(i)
					got := []uint32{label}
					for j := uint32(1); j < 1<<len(kernel); j++ {
						label ^= kernel[bits.TrailingZeros32(j)]
						got = append(got, label)
					}
					slices.Sort(got)
					if !slices.Equal(got, want) {
						t.Fatalf("m=%d k=%d: coset %v, want %v", m, k, got, want)
					}
					if character, flip := c.Sign(i); character != a.Character || flip != a.Flip {
						t.Fatalf("m=%d k=%d: sign %d, %d, want %d, %d", m, k, character, flip, a.Character, a.Flip)
					}
				}
			}
		}
	}
}

// The highest bit of a vector of a basis is in no other vector and not in the point, up to the
// largest labels, and every vector is sent to 0.
func TestBasesAreReduced(t *testing.T) {
	for n := range 2 * MaxBits {
		c := [2]int{n/2 + 1, (n/2 + 1) / (1 + n%2)} // bits of a label, all there are, and of a value
		e, err := NewExpander(c[0], c[1], 7, 8)
		if err != nil {
			t.Fatal(err)
		}
		a, all := e.NewAffine(), e.NewCosets()
		seeds, values := make([]uint32, Batch), make([]uint32, Batch)
		for i := range seeds {
			seeds[i], values[i] = uint32(i), uint32(i)&(1<<c[1]-1)
		}
		all.Solve(seeds, values)
		for i, seed := range seeds {
			e.Draw(a, seed)
			point, kernel := all.Coset(i)
			if a.Apply(point) != values[i] || len(kernel) != c[0]-c[1] || !slices.IsSorted(kernel) {
				t.Fatalf("m=%d k=%d: point %d is sent to %d, want %d; %d vectors", c[0], c[1], point, a.Apply(point), values[i], len(kernel))
			}
			for _, v := range kernel {
				highest := uint32(1) << (bits.Len32(v) - 1)
				others := point & highest
				for _, w := range kernel {
					if w != v {
						others |= w & highest
					}
				}
				if a.Apply(v) != a.Offset || others != 0 {
					t.Fatalf("m=%d k=%d: vector %b of %b, point %b", c[0], c[1], v, kernel, point)
				}
			}
		}
	}
}

func TestTransposeExchangesRowsAndColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var a [64]uint64
	for i := range a {
		a[i] = rng.Uint64()
	}
	b := a
	transpose(&b)
	for i, row := range a {
		for j, column := range b {
			if row>>j&1 != column>>i&1 {
				t.Fatalf("bit %d of word %d", j, i)
			}
		}
	}
}

// Of one coset of a batch.
func BenchmarkCosets(b *testing.B) {
	for _, c := range [][2]int{{11, 11}, {13, 13}, {15, 13}, {18, 13}, {21, 13}} {
		e, err := NewExpander(c[0], c[1], 1, 2)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("m=%d/k=%d", c[0], c[1]), func(b *testing.B) {
			all := e.NewCosets()
			var seeds, values [Batch]uint32
			for n := 0; n < b.N; n += Batch {
				for i := range seeds {
					seeds[i] = uint32(n + i)
				}
				all.Solve(seeds[:], values[:])
				for i := range seeds {
					all.Coset(i)
				}
			}
		})
	}
}
