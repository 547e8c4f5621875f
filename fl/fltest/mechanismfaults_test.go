package fltest_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/hushgrad/hushgrad/fl"
)

// promises returns a fault of the guarantee.
func promises(change func(g *fl.Guarantee)) func(f *faulty) {
	return func(f *faulty) {
		f.guarantee = func(m *toy) fl.Guarantee {
			g := m.Guarantee()
			change(&g)
			return g
		}
	}
}

// bound is an amplification given by its two functions.
type bound struct {
	epsilon, delta func(n int, x float64) float64
	careless       bool // takes any arguments
}

func (b bound) Epsilon(n int, delta float64) (float64, error) {
	if _, err := localBound(0).Epsilon(n, delta); err != nil && !b.careless {
		return 0, err
	}
	return b.epsilon(n, delta), nil
}

func (b bound) Delta(n int, epsilon float64) (float64, error) {
	if _, err := localBound(0).Delta(n, epsilon); err != nil && !b.careless {
		return 0, err
	}
	return b.delta(n, epsilon), nil
}

// amplifies returns a fault of a good bound.
func amplifies(change func(b *bound)) func(f *faulty) {
	b := bound{
		epsilon: func(n int, delta float64) float64 { return 1 / float64(n) },
		delta:   func(n int, epsilon float64) float64 { return math.Exp(-epsilon) / float64(n) },
	}
	change(&b)
	return func(f *faulty) { f.shuffled = func(*toy) fl.Amplification { return b } }
}

// fewClients is an amplification that is an error for the smallest number of clients.
type fewClients struct{}

func (fewClients) Epsilon(n int, delta float64) (float64, error) {
	return localBound(2).Epsilon(n-1, delta)
}
func (fewClients) Delta(n int, epsilon float64) (float64, error) {
	return localBound(2).Delta(n-1, epsilon)
}

// opened counts the rounds that one of the faults opened.
var opened atomic.Int64

// encodes returns a fault of Encode.
func encodes(encode func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error)) func(f *faulty) {
	return func(f *faulty) { f.encode = encode }
}

// mechanismFaults are faults in the client's half, and in what it promises.
func mechanismFaults() []fault {
	return []fault{
		{"changes a complete round", "open", "fl.Complete", func(f *faulty) {
			f.complete = func(r fl.Round) (fl.Round, error) { r.MinReports++; return r, nil }
		}},
		{"completes no complete round", "open", "fl.Complete", func(f *faulty) {
			f.complete = func(r fl.Round) (fl.Round, error) { return r, errors.New("is complete") }
		}},
		{"ignores parameters", "open", "fltest-unknown", func(f *faulty) { f.params = func(fl.Round) error { return nil } }},
		{"knows one id", "merge", "another id", func(f *faulty) {
			f.params = func(r fl.Round) error {
				if r.ID != "r" {
					return errors.New("another round")
				}
				return r.Params.Only("fault")
			}
		}},
		{"knows one seed", "merge", "another public seed", func(f *faulty) {
			f.params = func(r fl.Round) error {
				if r.PublicSeed != [32]byte{1} {
					return errors.New("another round")
				}
				return r.Params.Only("fault")
			}
		}},
		{"has a key of its own", "merge", "in another process", func(f *faulty) {
			key := byte(opened.Add(1))
			f.encode = func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
				out, err := m.Encode(dst, grad, rng)
				if err != nil {
					return dst, err
				}
				return append(out, key), nil
			}
			f.add = func(a *faultyAggregator, report []byte) error {
				if len(report) != 4 || report[3] != key {
					return fl.ErrBadReport
				}
				return a.toyAggregator.Add(report[:3])
			}
		}},

		{"promises a larger epsilon", "guarantee", "epsilon", promises(func(g *fl.Guarantee) { g.Epsilon = 4.1 })},
		{"promises no number", "guarantee", "epsilon", promises(func(g *fl.Guarantee) { g.Epsilon = math.NaN() })},
		{"promises a larger delta", "guarantee", "delta", promises(func(g *fl.Guarantee) { g.Delta = 1e-9 })},
		{"promises a weaker relation", "guarantee", "relation", promises(func(g *fl.Guarantee) { g.Relation = fl.ZeroOut })},
		{"has a trust of its own", "guarantee", "trust", promises(func(g *fl.Guarantee) { g.Trust = 9 })},
		{"has no privacy", "guarantee", "there is no privacy", promises(func(g *fl.Guarantee) { g.Trust, g.Epsilon = fl.NoPrivacy, math.Inf(1) })},
		{"has a finite epsilon without privacy", "guarantee", "want +Inf", promises(func(g *fl.Guarantee) { g.Trust = fl.NoPrivacy })},
		{"promises one thing and then another", "guarantee", "and then", func(f *faulty) {
			var calls atomic.Int64
			promises(func(g *fl.Guarantee) { g.Epsilon = 1 / float64(calls.Add(1)) })(f)
		}},

		{"promises something else elsewhere", "guarantee", "in another process", func(f *faulty) {
			here := opened.Add(1)
			promises(func(g *fl.Guarantee) { g.Epsilon = 1 / float64(here) })(f)
		}},

		{"amplifies above epsilon", "amplification", "Epsilon(2", amplifies(func(b *bound) { b.epsilon = func(int, float64) float64 { return 2.1 } })},
		{"amplifies less with more clients", "amplification", "Epsilon(10,", amplifies(func(b *bound) { b.epsilon = func(n int, _ float64) float64 { return 1 - 1/float64(n) } })},
		{"amplifies less with delta", "amplification", "Epsilon(2, 1e-06)", amplifies(func(b *bound) { b.epsilon = func(_ int, delta float64) float64 { return delta } })},
		{"amplifies a little above epsilon", "amplification", "Epsilon(2", amplifies(func(b *bound) { b.epsilon = func(int, float64) float64 { return 2 + 1e-7 } })},
		{"delta is negative", "amplification", "Delta(2", amplifies(func(b *bound) { b.delta = func(_ int, epsilon float64) float64 { return -epsilon } })},
		{"delta is no number", "amplification", "Delta(2", amplifies(func(b *bound) { b.delta = func(int, float64) float64 { return math.NaN() } })},
		{"delta rises with epsilon", "amplification", "Delta(2", amplifies(func(b *bound) { b.delta = func(_ int, epsilon float64) float64 { return epsilon / 100 } })},
		{"amplifies for some clients only", "amplification", "Epsilon(2, 1e-12): clients", func(f *faulty) {
			f.shuffled = func(*toy) fl.Amplification { return fewClients{} }
		}},
		{"amplifies at no delta", "amplification", "want an error", amplifies(func(b *bound) { b.careless = true })},
		{"amplifies what is not local", "amplification", "only local", promises(func(g *fl.Guarantee) { g.Trust = fl.Shuffle })},

		{"costs nothing", "cost", "finite", func(f *faulty) { f.cost = func(*toy) fl.Cost { return fl.Cost{Bytes: 3} } }},
		{"costs everything", "cost", "finite", func(f *faulty) { f.cost = func(*toy) fl.Cost { return fl.Cost{Messages: 1, Bytes: math.Inf(1)} } }},
		{"costs more than it says", "cost", "on average", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			dst, err := m.Encode(dst, grad, rng)
			return append(dst, make([]byte, 100)...), err
		})},
		{"advises nothing", "advice", "sentence", func(f *faulty) { f.advice = func(*toy) []string { return []string{""} } }},

		{"overwrites dst", "encode", "appended", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			out, err := m.Encode(nil, grad, rng)
			if err != nil {
				return dst, err
			}
			return out, nil
		})},
		{"ignores rng", "encode", "equal generators", encodes(func(m *toy, dst []byte, grad []float64, _ *rand.Rand) ([]byte, error) {
			return m.Encode(dst, grad, nil)
		})},
		{"panics without rng", "encode", "panic", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			_ = rng.Uint64()
			return m.Encode(dst, grad, rng)
		})},
		{"wants an rng", "encode", "nil rng", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			if rng == nil {
				return dst, fl.Invalid("rng", nil, "must be there")
			}
			return m.Encode(dst, grad, rng)
		})},
		{"is not random without rng", "encode", "fresh", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			if rng == nil {
				rng = rand.New(rand.NewPCG(1, 2))
			}
			return m.Encode(dst, grad, rng)
		})},
		{"takes NaN", "encode", "NaN at coordinate 0", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			numbers := slices.Clone(grad)
			for j, v := range grad {
				if math.IsNaN(v) {
					numbers[j] = 0
				}
			}
			return m.Encode(dst, numbers, rng)
		})},
		{"takes a longer gradient", "encode", "one coordinate more", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			return m.Encode(dst, grad[:min(len(grad), m.round.Dim)], rng)
		})},
		{"panics on a shorter gradient", "encode", "panic", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			return m.Encode(dst, grad[:m.round.Dim:m.round.Dim], rng)
		})},
		{"refuses with another error", "encode", "want a *fl.ParamError", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			out, err := m.Encode(dst, grad, rng)
			if err != nil {
				err = errors.New("no gradient")
			}
			return out, err
		})},
		{"loses dst on an error", "encode", "want dst as it was", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			out, err := m.Encode(dst, grad, rng)
			if err != nil {
				return nil, err
			}
			return out, nil
		})},
		{"refuses large gradients", "encode", "16 times the scale", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			if slices.ContainsFunc(grad, func(v float64) bool { return math.Abs(v) > m.round.Scale }) {
				return dst, fl.Invalid("gradient", "more", "must be within the scale")
			}
			return m.Encode(dst, grad, rng)
		})},
		{"panics on huge gradients", "encode", "panic", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			if len(grad) > 0 && grad[0] == math.MaxFloat64 {
				panic("overflow")
			}
			return m.Encode(dst, grad, rng)
		})},
		{"refuses huge gradients", "encode", "coordinates of 1.79", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			if len(grad) > 0 && grad[0] == math.MaxFloat64 {
				return dst, fl.Invalid("gradient", grad[0], "must be smaller")
			}
			return m.Encode(dst, grad, rng)
		})},
		{"refuses tiny coordinates", "encode", "e-310", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			if len(grad) > 0 && grad[0] != 0 && 1/grad[0]-1/grad[0] != 0 {
				return dst, fl.Invalid("gradient", grad[0], "must be a normal number")
			}
			return m.Encode(dst, grad, rng)
		})},
		{"refuses the sign -", "encode", "zeros with the sign -", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			if len(grad) > 0 && grad[0] == 0 && math.Signbit(grad[0]) {
				return dst, fl.Invalid("gradient", grad[0], "must be 0")
			}
			return m.Encode(dst, grad, rng)
		})},
		{"changes the gradient", "encode", "input was changed", encodes(func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
			out, err := m.Encode(dst, grad, rng)
			if err == nil {
				grad[0]++
			}
			return out, err
		})},
		{"has another size", "encode", "ReportBytes", func(f *faulty) { f.reportBytes = func(*toy) int { return 4 } }},

		{"takes keys in any order", "key-value pairs", "decreasing keys", func(f *faulty) {
			f.encodeKeyValues = func(m *toy, dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
				slices.SortFunc(pairs, func(a, b fl.KeyValue) int { return int(a.Key) - int(b.Key) })
				return m.EncodeKeyValues(dst, pairs, rng)
			}
		}},
		{"changes the pairs", "key-value pairs", "input was changed", func(f *faulty) {
			f.encodeKeyValues = func(m *toy, dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
				out, err := m.EncodeKeyValues(dst, pairs, rng)
				if len(pairs) > 0 {
					pairs[0].Value++
				}
				return out, err
			}
		}},

		{"depends on what others encode", "concurrency", "encoded beside others", func(f *faulty) {
			var calls atomic.Int64
			f.encode = func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
				out, err := m.Encode(dst, grad, rng)
				if err == nil {
					out[len(out)-2] = byte(calls.Add(1) % int64(m.round.Dim))
				}
				return out, err
			}
		}},
	}
}
