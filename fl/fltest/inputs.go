package fltest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

func (s *suite) pairsAreEncoded(m fl.KeyValueMechanism) error {
	var all, some []fl.KeyValue
	for j, v := range s.gradient(0) {
		all = append(all, fl.KeyValue{Key: uint32(j), Value: float64(j%3 - 1)})
		if v != 0 {
			some = append(some, fl.KeyValue{Key: uint32(j), Value: min(max(v/s.round.Scale, -1), 1)})
		}
	}
	return each([]named[[]fl.KeyValue]{
		{"no pairs", nil}, {"every key", all}, {"some keys", some}, {"one key", all[:1]}, {"the last key", all[s.round.Dim-1:]},
	}, func(pairs []fl.KeyValue) error { return s.encodes(of(pairs, m.EncodeKeyValues)) })
}

func (s *suite) badPairsAreRefused(m fl.KeyValueMechanism) error {
	return each([]named[[]fl.KeyValue]{
		{"a key of dim", []fl.KeyValue{{Key: uint32(s.round.Dim)}}},
		{"the largest key", []fl.KeyValue{{Key: math.MaxUint32}}},
		{"a key twice", []fl.KeyValue{{}, {}}},
		{"decreasing keys", []fl.KeyValue{{Key: 1}, {}}},
		{"a value above 1", []fl.KeyValue{{Value: math.Nextafter(1, 2)}}},
		{"a value below -1", []fl.KeyValue{{Value: -1e300}}},
		{"a value that is NaN", []fl.KeyValue{{Value: math.NaN()}}},
	}, func(pairs []fl.KeyValue) error { return s.refuses(of(pairs, m.EncodeKeyValues)) })
}

// ofVector encodes a vector and checks that it stays as it was.
func ofVector(m fl.SparseMechanism, x fl.Ternary) encoding {
	return func(dst []byte, rng *rand.Rand) ([]byte, error) {
		mine := fl.Ternary{Dim: x.Dim, Index: slices.Clone(x.Index), Sign: slices.Clone(x.Sign)}
		out, err := m.EncodeTernary(dst, mine, rng)
		if err == nil && (!slices.Equal(mine.Index, x.Index) || !slices.Equal(mine.Sign, x.Sign)) {
			return out, errors.New("the vector was changed")
		}
		return out, err
	}
}

// vector lists n entries, from an index on, with alternating signs.
func (s *suite) vector(first, n int) fl.Ternary {
	x := fl.Ternary{Dim: s.round.Dim}
	for i := range n {
		x.Index, x.Sign = append(x.Index, uint32(first+i)), append(x.Sign, int8(1-2*(i%2)))
	}
	return x
}

// sparsity returns the number of entries that EncodeTernary takes. The contract has no
// method for it, but says that there is exactly one.
func (s *suite) sparsity(m fl.SparseMechanism) (int, error) {
	var taken []int
	all := s.vector(0, s.round.Dim)
	for n := range s.round.Dim + 1 {
		x := fl.Ternary{Dim: all.Dim, Index: all.Index[:n], Sign: all.Sign[:n]}
		if _, err := m.EncodeTernary(nil, x, s.rand(0)); err == nil {
			taken = append(taken, n)
		}
	}
	if len(taken) != 1 || taken[0] == 0 {
		return 0, fmt.Errorf("EncodeTernary takes vectors of %v entries, want a single sparsity in [1, dim]", taken)
	}
	return taken[0], nil
}

func (s *suite) vectorsAreEncoded(m fl.SparseMechanism) error {
	sparsity := must(s.sparsity(m))
	backwards := s.vector(0, sparsity)
	slices.Reverse(backwards.Index)
	return each([]named[fl.Ternary]{
		{"the first coordinates", s.vector(0, sparsity)},
		{"the first coordinates, backwards", backwards},
		{"the last coordinates", s.vector(s.round.Dim-sparsity, sparsity)},
		{"the last coordinate and dummies", s.vector(s.round.Dim-1, sparsity)},
		{"nothing but dummies", s.vector(s.round.Dim, sparsity)},
	}, func(x fl.Ternary) error { return s.encodes(ofVector(m, x)) })
}

func (s *suite) badVectorsAreRefused(m fl.SparseMechanism) error {
	sparsity := must(s.sparsity(m))
	wide, signs, zero, double := s.vector(0, sparsity), s.vector(0, sparsity), s.vector(0, sparsity), s.vector(0, sparsity)
	wide.Dim++
	signs.Sign = append(signs.Sign, 1)
	zero.Sign[0], double.Sign[sparsity-1] = 0, 2
	bad := []named[fl.Ternary]{
		{"another dimension", wide},
		{"one entry less", s.vector(0, sparsity-1)},
		{"one entry more", s.vector(0, sparsity+1)},
		{"one sign more", signs},
		{"the sign 0", zero},
		{"the sign 2", double},
		{"an index beyond the dummies", s.vector(s.round.Dim+1, sparsity)},
	}
	if sparsity > 1 {
		twice := s.vector(0, sparsity)
		twice.Index[0] = twice.Index[sparsity-1]
		bad = append(bad, named[fl.Ternary]{"an index twice", twice})
	}
	return each(bad, func(x fl.Ternary) error { return s.refuses(ofVector(m, x)) })
}
