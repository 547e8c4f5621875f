package sparse

import (
	"math"

	"github.com/hushgrad/hushgrad/internal/gf2"
	"github.com/hushgrad/hushgrad/internal/walsh"
)

// spectrumTally keeps the Walsh spectrum of the hits, times 2^k: of the hits of
// either sign and, in the Paired layout, of + minus −.
type spectrumTally struct {
	family  *linear
	affine  *gf2.Affine
	places  []uint32 // of a report, see scatter.add
	spectra []*scatter
}

func newSpectrumTally(f *linear) *spectrumTally {
	hits := 1 << f.m
	if f.k == 0 {
		hits = 1 // every report hits every label: only place 0 is ever used
	}
	c := &spectrumTally{family: f, affine: f.expander.NewAffine(), places: make([]uint32, 1<<f.k), spectra: []*scatter{newScatter(hits)}}
	if f.shape.Layout == Paired {
		c.spectra = append(c.spectra, newScatter(1<<f.m))
	}
	return c
}

// Add implements Tally: 2^k additions in each spectrum. For u in GF(2)^k they are at Aᵀu, with the
// sign u·right.
func (c *spectrumTally) Add(seed, slot uint32) {
	a := c.affine
	c.family.expander.Draw(a, seed)
	cell := slot >> c.family.signBits()
	right := cell ^ a.Offset
	for i, row := range a.Rows {
		step := row<<1 | right>>i&1
		known := c.places[:1<<i] // place 0 is always 0
		next := c.places[1<<i:][:len(known)]
		for j, at := range known {
			next[j] = at ^ step
		}
	}
	c.spectra[0].add(c.places, 0)
	if c.family.shape.Layout == Paired {
		// How the signed spectrum differs: by the character of the sign, which moves
		// the place, and by a factor that all its terms share.
		c.spectra[1].add(c.places, a.Character<<1|slot&1^a.Flip)
	}
}

func (c *spectrumTally) Merge(other Tally) error {
	o, ok := other.(*spectrumTally)
	if !ok || !c.family.sameRound(o.family) {
		return errOtherRound
	}
	for i, s := range c.spectra {
		s.merge(o.spectra[i].sums)
	}
	return nil
}

// Counts implements Tally: a Walsh–Hadamard transform, O(m·2^m). Its sums are below
// reports·2^k ≤ 2^62, so the counts are exact. While the sums are below 2^31, one transform does
// both spectra: it is linear, so the transform of hits + 2^32·signed has both results in the halves
// of its numbers.
func (c *spectrumTally) Counts() (plus, minus []int32) {
	dim, k := c.family.shape.Dim, c.family.k
	plus, minus = make([]int32, dim), make([]int32, dim)
	if c.family.shape.Layout == Separate {
		hits := c.transformed(0)
		c.family.eachLabel(func(first int, labels []uint32) {
			for i := range len(labels) / 2 {
				plus[first+i], minus[first+i] = int32(hits[labels[2*i]]>>k), int32(hits[labels[2*i+1]]>>k)
			}
		})
		return plus, minus
	}
	split := func(j int, hits, signed int64) {
		either, difference := hits>>k, signed>>k
		plus[j], minus[j] = int32((either+difference)/2), int32((either-difference)/2)
	}
	if c.spectra[0].magnitude() <= math.MaxInt32 && c.spectra[1].magnitude() <= math.MaxInt32 {
		both := c.transformed(0, 1)
		c.family.eachLabel(func(first int, labels []uint32) {
			for i, label := range labels {
				v := both[label]
				hits := int64(int32(v))
				split(first+i, hits, (v-hits)>>32)
			}
		})
		return plus, minus
	}
	hits, signed := c.transformed(0), c.transformed(1)
	c.family.eachLabel(func(first int, labels []uint32) {
		for i, label := range labels {
			split(first+i, hits[label], signed[label])
		}
	})
	return plus, minus
}

// transformed returns the values whose spectrum is the sum of the spectra with the given numbers,
// the second times 2^32. A spectrum of length 1 stands for one that is zero everywhere else.
func (c *spectrumTally) transformed(spectra ...int) []int64 {
	out := make([]int64, 1<<c.family.m)
	for i, number := range spectra {
		c.spectra[number].addTo(out, 32*i)
	}
	// The length is a power of two, the only thing the transform asks for.
	_ = walsh.Transform(out)
	return out
}

// Integers implements Tally.
func (c *spectrumTally) Integers() (n int) {
	for _, s := range c.spectra {
		n += len(s.low)
	}
	return n
}

// Visit implements Tally: spectrum after spectrum.
func (c *spectrumTally) Visit(f func(int32) int32) {
	for _, s := range c.spectra {
		for place := range s.low {
			s.visit(uint32(place), f)
		}
	}
}
