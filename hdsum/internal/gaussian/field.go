package gaussian

import (
	"math/rand/v2"
	"slices"

	"github.com/cloudflare/circl/vdaf/prio3/arith/fp128"
)

// elementBytes is the length of an element of the field of Prio3, the integers modulo a prime of 128 bits.
const elementBytes = fp128.Size

// fieldSum implements sum with elements of the field. They count thirds of a unit.
type fieldSum struct{ elements fp128.Vec }

func newFieldSum(length int) *fieldSum { return &fieldSum{make(fp128.Vec, length)} }

func (s *fieldSum) add(packed []byte) bool {
	v := make(fp128.Vec, len(s.elements))
	if len(packed) != s.packedBytes() || v.UnmarshalBinary(packed) != nil {
		return false
	}
	s.elements.AddAssign(v)
	return true
}

func (s *fieldSum) merge(other sum) { s.elements.AddAssign(other.(*fieldSum).elements) }

func (s *fieldSum) clone() sum { return &fieldSum{slices.Clone(s.elements)} }

func (s *fieldSum) disturb(n noise, rng *rand.Rand) {
	for i := range s.elements {
		z := element(thirds * n.draw(rng))
		s.elements[i].AddAssign(&z)
	}
}

func (s *fieldSum) packedBytes() int { return elementBytes * len(s.elements) }

func (s *fieldSum) pack(dst []byte) []byte {
	data, err := s.elements.MarshalBinary()
	if err != nil {
		panic(err) // elements have one form
	}
	return append(dst, data...)
}

func (s *fieldSum) values() []float64 {
	out := make([]float64, len(s.elements))
	for i, v := range s.elements {
		out[i] = signed(v) / thirds
	}
	return out
}

// element returns the element of an integer.
func element(v int64) (e fp128.Fp) {
	_ = e.SetUint64(magnitude(v)) // the field has all of them
	if v < 0 {
		e.Sub(&fp128.Fp{}, &e)
	}
	return e
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// signed returns the number of least absolute value that an element stands for. Numbers of 2^64 and more, which sums of clients
// do not have, become 2^64.
func signed(e fp128.Fp) float64 {
	if v, err := e.GetUint64(); err == nil {
		return float64(v)
	}
	var minus fp128.Fp
	minus.Sub(&fp128.Fp{}, &e)
	if v, err := minus.GetUint64(); err == nil {
		return -float64(v)
	}
	return 1 << 64
}
