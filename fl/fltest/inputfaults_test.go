package fltest_test

import (
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// inputFaults are faults in what clients encode beside gradients, and in the choice that they
// have.
func inputFaults() []fault {
	return []fault{
		{"draws more for float32", "float32", "for the same numbers", func(f *faulty) {
			f.encodeFloat32 = func(m *toy, dst []byte, grad []float32, rng *rand.Rand) ([]byte, error) {
				if rng != nil {
					rng.Uint64()
				}
				return m.EncodeFloat32(dst, grad, rng)
			}
		}},
		{"takes longer float32", "float32", "one coordinate more", func(f *faulty) {
			f.encodeFloat32 = func(m *toy, dst []byte, grad []float32, rng *rand.Rand) ([]byte, error) {
				return m.EncodeFloat32(dst, grad[:min(len(grad), m.round.Dim)], rng)
			}
		}},
		{"changes float32", "float32", "input was changed", func(f *faulty) {
			f.encodeFloat32 = func(m *toy, dst []byte, grad []float32, rng *rand.Rand) ([]byte, error) {
				out, err := m.EncodeFloat32(dst, grad, rng)
				if err == nil {
					grad[0]++
				}
				return out, err
			}
		}},
		{"sends pairs nobody counts", "key-value pairs", "Add of the report", func(f *faulty) {
			f.encodeKeyValues = func(m *toy, dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
				out, err := m.EncodeKeyValues(dst, pairs, rng)
				if err == nil {
					out[len(out)-3] = 9
				}
				return out, err
			}
		}},
		{"takes any sparsity", "ternary vectors", "a single sparsity", func(f *faulty) {
			f.encodeTernary = func(m *toy, dst []byte, x fl.Ternary, rng *rand.Rand) ([]byte, error) {
				for len(x.Index) < toySparsity {
					x.Index, x.Sign = append(x.Index, uint32(m.round.Dim+len(x.Index))), append(x.Sign, 1)
				}
				return m.EncodeTernary(dst, x, rng)
			}
		}},
		{"takes an index twice", "ternary vectors", "an index twice", func(f *faulty) {
			f.encodeTernary = func(m *toy, dst []byte, x fl.Ternary, rng *rand.Rand) ([]byte, error) {
				if err := x.Validate(m.round.Dim, toySparsity); err != nil {
					return dst, err
				}
				return m.Encode(dst, make([]float64, m.round.Dim), rng)
			}
		}},
		{"changes the vector", "ternary vectors", "vector was changed", func(f *faulty) {
			f.encodeTernary = func(m *toy, dst []byte, x fl.Ternary, rng *rand.Rand) ([]byte, error) {
				out, err := m.EncodeTernary(dst, x, rng)
				slices.Sort(x.Index)
				return out, err
			}
		}},
		{"offers the weakest tier first", "tiers", "begin with", func(f *faulty) {
			f.tiers = func(m *toy) []fl.Guarantee { menu := m.Tiers(); slices.Reverse(menu); return menu }
		}},
		{"offers tiers in disorder", "tiers", "strictest guarantee first", func(f *faulty) {
			f.tiers = func(m *toy) []fl.Guarantee { menu := m.Tiers(); menu[1].Epsilon = 1; return menu }
		}},
		{"offers a tier beyond the round", "tiers", "tier 1: epsilon", func(f *faulty) {
			f.tiers = func(m *toy) []fl.Guarantee { menu := m.Tiers(); menu[1].Epsilon = 5; return menu }
		}},
		{"panics beyond the menu", "tiers", "panic", func(f *faulty) {
			f.encodeTier = func(m *toy, dst []byte, tier int, grad []float64, rng *rand.Rand) ([]byte, error) {
				_ = m.Tiers()[tier]
				return m.EncodeTier(dst, tier, grad, rng)
			}
		}},
		{"takes a negative tier", "tiers", "tier -1", func(f *faulty) {
			f.encodeTier = func(m *toy, dst []byte, tier int, grad []float64, rng *rand.Rand) ([]byte, error) {
				return m.EncodeTier(dst, max(tier, 0), grad, rng)
			}
		}},
		{"encodes no loose tier", "tiers", "EncodeTier of tier 1: zeros", func(f *faulty) {
			f.encodeTier = func(m *toy, dst []byte, tier int, grad []float64, rng *rand.Rand) ([]byte, error) {
				if tier == 1 {
					return dst, fl.Invalid("tier", tier, "must be the strict one")
				}
				return m.EncodeTier(dst, tier, grad, rng)
			}
		}},
		{"ignores the tier", "tiers", "reports under", func(f *faulty) {
			f.encodeTier = func(m *toy, dst []byte, tier int, grad []float64, rng *rand.Rand) ([]byte, error) {
				return m.EncodeTier(dst, min(tier, 0), grad, rng)
			}
		}},
		{"estimates no tiers", "tiers", "the menu has 2", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.Tiers = nil })},
		{"estimates tiers of its own", "tiers", "tier 1 of an estimate", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.Tiers[1].Guarantee.Epsilon = 3 })},
		{"weighs tiers too much", "tiers", "sum to 2", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.Tiers[0].Weight++ })},
		{"estimates under a guarantee of its own", "tiers", "none of the menu", estimates(func(_ *faultyAggregator, e *fl.Estimate) { e.Guarantee.Epsilon = 3 })},
	}
}
