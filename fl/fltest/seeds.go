package fltest

import (
	"errors"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// seedsAreAssigned: every report of WithSeed's mechanism has the seed, by whatever method it is encoded, and the mechanism
// itself goes on to draw seeds. Four drawn seeds are equal with a probability of 2⁻⁹⁶.
func (s *suite) seedsAreAssigned(m fl.SeededMechanism) error {
	for _, seed := range []uint32{0, 1, 0x89abcdef, 1<<32 - 1} {
		assigned := m.WithSeed(seed)
		if got := assigned.Guarantee(); got != m.Guarantee() {
			return fmt.Errorf("WithSeed: a guarantee of %v, want %v", got, m.Guarantee())
		}
		encodings, err := s.encodings(assigned)
		if err != nil {
			return err
		}
		if err := each(encodings, func(encode encoding) error {
			for stream := range uint64(samples) {
				got, err := m.SeedOf(must(encode(nil, s.rand(stream))))
				if err == nil && got != seed {
					err = fmt.Errorf("the seed %d, want %d", got, seed)
				}
				if err != nil {
					return err
				}
			}
			return s.encodes(encode)
		}); err != nil {
			return fmt.Errorf("after WithSeed: %w", err)
		}
	}
	drawn := map[uint32]bool{}
	for stream := range uint64(4) {
		seed, err := m.SeedOf(must(m.Encode(nil, s.gradient(0), s.rand(stream))))
		if err != nil {
			return fmt.Errorf("SeedOf a report: %w", err)
		}
		drawn[seed] = true
	}
	if len(drawn) == 1 {
		return errors.New("four reports with one seed, want Encode to draw seeds as before WithSeed")
	}
	return nil
}

// encodings are the ways to encode that the suite's mechanism has, taken from another one that must have them, too.
func (s *suite) encodings(m fl.Mechanism) (ways []named[encoding], err error) {
	has := func(name string, wanted, there bool, encode func() encoding) {
		if wanted && !there {
			err = fmt.Errorf("WithSeed: no %s, which the mechanism has", name)
		} else if wanted {
			ways = append(ways, named[encoding]{name, encode()})
		}
	}
	has("Encode", true, true, func() encoding { return of(s.gradient(0), m.Encode) })
	_, wanted := s.mechanism.(fl.Float32Mechanism)
	narrowed, there := m.(fl.Float32Mechanism)
	has("EncodeFloat32", wanted, there, func() encoding {
		grad, _ := narrow(s.gradient(0))
		return of(grad, narrowed.EncodeFloat32)
	})
	_, wanted = s.mechanism.(fl.KeyValueMechanism)
	paired, there := m.(fl.KeyValueMechanism)
	has("EncodeKeyValues", wanted, there, func() encoding { return of([]fl.KeyValue{{Value: 1}}, paired.EncodeKeyValues) })
	_, wanted = s.mechanism.(fl.TieredMechanism)
	menu, there := m.(fl.TieredMechanism)
	has("EncodeTier", wanted, there, func() encoding { return ofTier(menu, len(menu.Tiers())-1, s.gradient(0)) })
	sparse, wanted := s.mechanism.(fl.SparseMechanism)
	vectors, there := m.(fl.SparseMechanism)
	if !wanted || err != nil {
		return ways, err
	}
	n, err := s.sparsity(sparse)
	has("EncodeTernary", wanted, there, func() encoding { return ofVector(vectors, s.vector(0, n)) })
	return ways, err
}

// seedsOfNoReport: what is no report has no seed.
func (s *suite) seedsOfNoReport(m fl.SeededMechanism) error {
	for _, report := range [][]byte{nil, s.reports[0][:len(s.reports[0])-1]} {
		if _, err := m.SeedOf(report); !errors.Is(err, fl.ErrBadReport) {
			return fmt.Errorf("SeedOf %d bytes: error %v, want fl.ErrBadReport", len(report), err)
		}
	}
	return nil
}
