package sparse

import (
	"encoding/binary"

	"github.com/hushgrad/hushgrad/internal/gf2"
	"github.com/hushgrad/hushgrad/internal/parallel"
)

// linear is the family over GF(2); see the package documentation.
type linear struct {
	Chances
	shape    HashShape
	key      [32]byte
	labels   *gf2.Labels
	expander *gf2.Expander
	m, k     int // bits of a label and of a cell
}

func newLinear(chances Chances, shape HashShape, key [32]byte) (*linear, error) {
	labels, err := gf2.NewLabels(shape.keys(), key)
	if err != nil {
		return nil, err
	}
	m, k := labels.Bits(), cellBits(shape.Layout, shape.Slots)
	expander, err := gf2.NewExpander(m, k, binary.LittleEndian.Uint64(key[16:24]), binary.LittleEndian.Uint64(key[24:32]))
	if err != nil {
		return nil, err
	}
	return &linear{Chances: chances, shape: shape, key: key, labels: labels, expander: expander, m: m, k: k}, nil
}

func (f *linear) Func() HashFunc {
	h := &linearFunc{family: f, affine: f.expander.NewAffine()}
	h.Bind(0)
	return h
}

type linearFunc struct {
	family *linear
	affine *gf2.Affine
}

func (h *linearFunc) Bind(seed uint32) { h.family.expander.Draw(h.affine, seed) }

// Slot implements Func, in O(k).
func (h *linearFunc) Slot(key uint32) uint32 {
	label := h.family.labels.Of(key)
	if h.family.shape.Layout == Paired {
		return h.affine.Apply(label)<<1 | h.affine.SignBit(label)
	}
	return h.affine.Apply(label)
}

// NewTally implements Family: the tally whose additions are fewer. If both need as many, it is the
// tally of cosets, which needs no transform.
func (f *linear) NewTally() Tally {
	if spectrum := f.k + f.signBits(); spectrum < f.m-f.k {
		return newSpectrumTally(f)
	}
	return &cosetTally{
		family: f, cosets: f.expander.NewCosets(), sweep: newSweep(f.m+f.signBits(), f.m-f.k),
		seeds: make([]uint32, 0, gf2.Batch), slots: make([]uint32, 0, gf2.Batch), cells: make([]uint32, gf2.Batch),
	}
}

// sameRound reports whether counts of two families may be added.
func (f *linear) sameRound(o *linear) bool { return f.shape == o.shape && f.key == o.key }

// labelBlock is the number of labels that are computed before they are used.
const labelBlock = 1 << 11

// eachLabel calls use for ranges of coordinates that cover all, in parallel. labels has the labels
// of the coordinates' keys: one for a coordinate in the Paired layout, in the Separate layout one
// for + and one for −. It is valid during the call.
func (f *linear) eachLabel(use func(first int, labels []uint32)) {
	keys := 1
	if f.shape.Layout == Separate {
		keys = 2
	}
	parallel.Ranges(f.shape.Dim, func(from, to int) {
		var labels [labelBlock]uint32
		for from < to {
			n := min(to-from, labelBlock/keys)
			f.labels.Fill(labels[:n*keys], uint32(from*keys))
			use(from, labels[:n*keys])
			from += n
		}
	})
}
