package gaussian

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// masks shares a vector as a seed and the vector less the seed's expansion, modulo 2^bits.
type masks struct{ ring }

func (m masks) shareBytes(side fl.ShareSide) int {
	if side == fl.FirstServer {
		return seedBytes
	}
	return m.bytes()
}

func (m masks) split(first, second []byte, x []int64, rng *rand.Rand) ([]byte, []byte) {
	start := len(first)
	for range seedBytes / 8 {
		first = binary.LittleEndian.AppendUint64(first, rng.Uint64())
	}
	mask := m.expand(first[start:])
	y := make([]uint64, len(x))
	for i, v := range x {
		y[i] = uint64(v) - m.at(mask, i)
	}
	return first, m.ring.pack(second, y)
}

func (m masks) check(side fl.ShareSide, share []byte) error {
	if side == fl.SecondServer && !m.wellFormed(share) {
		return count.BadReport("share", fmt.Sprintf("last byte %#x", share[len(share)-1]), "must end with zeros behind %d numbers of %d bits", m.length, m.ring.bits)
	}
	return nil
}

func (m masks) open(side fl.ShareSide, share []byte) ([]byte, error) {
	if err := m.check(side, share); err != nil {
		return nil, err
	}
	if side == fl.FirstServer {
		share = m.expand(share)
	}
	return share, nil
}

func (m masks) newSum() sum { return &ringSum{ring: m.ring, residues: make([]uint64, m.length)} }

// ringSum implements sum with residues modulo 2^64, which the ring's modulus divides.
type ringSum struct {
	ring     ring
	residues []uint64
}

func (s *ringSum) add(packed []byte) bool {
	if !s.ring.wellFormed(packed) {
		return false
	}
	s.ring.add(s.residues, packed)
	return true
}

func (s *ringSum) merge(other sum) {
	for i, v := range other.(*ringSum).residues {
		s.residues[i] += v
	}
}

func (s *ringSum) clone() sum { return &ringSum{s.ring, slices.Clone(s.residues)} }

func (s *ringSum) disturb(n noise, rng *rand.Rand) {
	for i := range s.residues {
		s.residues[i] += uint64(n.draw(rng))
	}
}

func (s *ringSum) packedBytes() int { return s.ring.bytes() }

func (s *ringSum) pack(dst []byte) []byte { return s.ring.pack(dst, s.residues) }

func (s *ringSum) values() []float64 {
	out := make([]float64, len(s.residues))
	for i, v := range s.residues {
		out[i] = float64(s.ring.signed(v))
	}
	return out
}
