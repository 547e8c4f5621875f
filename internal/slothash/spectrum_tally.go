package slothash

import (
	"math/bits"

	"github.com/hushgrad/hushgrad/internal/gf2"
	"github.com/hushgrad/hushgrad/internal/walsh"
)

// spectrumTally keeps the Walsh spectrum of the hits, times 2^k: of the hits of
// either sign and, in the Paired layout, of + minus −.
type spectrumTally struct {
	counters
	family *linear
	affine *gf2.Affine
}

func newSpectrumTally(f *linear) *spectrumTally {
	sizes := []int{1 << f.m}
	if f.k == 0 {
		sizes[0] = 1 // every report hits every label: only place 0 is ever used
	}
	if f.shape.Layout == Paired {
		sizes = append(sizes, 1<<f.m)
	}
	return &spectrumTally{counters: newCounters(sizes...), family: f, affine: f.expander.NewAffine()}
}

// Add implements Tally: 2^k additions in each spectrum. u runs through GF(2)^k in
// Gray code, at = Aᵀu and minus = u·right.
func (c *spectrumTally) Add(seed, slot uint32) {
	a := c.affine
	c.family.expander.Draw(a, seed)
	at, minus, hits := uint32(0), uint32(0), c.arrays[0]
	if c.family.shape.Layout == Separate {
		right := slot ^ a.Offset
		hits.add(0, 0)
		for u := uint32(1); u < 1<<len(a.Rows); u++ {
			row := bits.TrailingZeros32(u)
			at ^= a.Rows[row]
			minus ^= right >> row & 1
			hits.add(at, minus)
		}
		return
	}
	// How the signed spectrum differs: by the character of the sign, which moves
	// the place, and by a factor that all its terms share.
	right, signed, turn := slot>>1^a.Offset, c.arrays[1], slot&1^a.Flip
	hits.add(0, 0)
	signed.add(a.Character, turn)
	for u := uint32(1); u < 1<<len(a.Rows); u++ {
		row := bits.TrailingZeros32(u)
		at ^= a.Rows[row]
		minus ^= right >> row & 1
		hits.add(at, minus)
		signed.add(at^a.Character, minus^turn)
	}
}

func (c *spectrumTally) Merge(other Tally) error {
	o, ok := other.(*spectrumTally)
	if !ok || !c.family.sameRound(o.family) {
		return errOtherRound
	}
	c.merge(o.counters)
	return nil
}

// Counts implements Tally: one Walsh–Hadamard transform per spectrum,
// O(m·2^m). Its sums are below reports·2^k ≤ 2^62, so the counts are exact.
func (c *spectrumTally) Counts() (plus, minus []int64) {
	dim, labels, k := c.family.shape.Dim, c.family.labels, c.family.k
	plus, minus = make([]int64, dim), make([]int64, dim)
	hits := transformed(c.arrays[0].values(), c.family.m)
	if c.family.shape.Layout == Separate {
		for j := range dim {
			plus[j] = hits[labels.Of(uint32(2*j))] >> k
			minus[j] = hits[labels.Of(uint32(2*j+1))] >> k
		}
		return plus, minus
	}
	signed := transformed(c.arrays[1].values(), c.family.m)
	for j := range dim {
		label := labels.Of(uint32(j))
		either, difference := hits[label]>>k, signed[label]>>k
		plus[j], minus[j] = (either+difference)/2, (either-difference)/2
	}
	return plus, minus
}

// transformed returns the values whose spectrum is given. A spectrum of length 1
// stands for one that is zero everywhere else.
func transformed(spectrum []int32, m int) []int64 {
	out := make([]int64, 1<<m)
	for i, v := range spectrum {
		out[i] = int64(v)
	}
	// The length is a power of two, the only thing the transform asks for.
	_ = walsh.Transform(out)
	return out
}
