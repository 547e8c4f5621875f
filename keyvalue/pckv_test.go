package keyvalue_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
)

var pckvNames = []string{keyvalue.PCKVUE, keyvalue.PCKVGRR, keyvalue.PCKVAGRR}

func pckvRound(name string) fl.Round {
	return fl.Round{
		ID: "test", Mechanism: name, Dim: 6, Scale: 0.5, Epsilon: 8, Relation: fl.ReplaceOne, MinReports: 1,
		Params: fl.Params{keyvalue.ParamPadding: fl.Int(2)}, PublicSeed: [32]byte{1},
	}
}

func param(t *testing.T, err error) string {
	t.Helper()
	var p *fl.ParamError
	if !errors.As(err, &p) {
		t.Fatalf("%v is not a ParamError", err)
	}
	return p.Param
}

func TestPCKVBadRoundsAreRefused(t *testing.T) {
	for _, name := range pckvNames {
		for want, spoil := range map[string]func(*fl.Round){
			"epsilon":             func(r *fl.Round) { r.Epsilon = math.Inf(1) },
			"delta":               func(r *fl.Round) { r.Delta = 1e-9 },
			"relation":            func(r *fl.Round) { r.Relation = fl.ZeroOut },
			"params":              func(r *fl.Round) { r.Params = r.Params.With("pading", fl.Int(1)) },
			keyvalue.ParamPadding: func(r *fl.Round) { r.Params = fl.Params{keyvalue.ParamPadding: fl.Int(0)} },
		} {
			r := pckvRound(name)
			spoil(&r)
			_, err := fl.Open(r)
			if got := param(t, err); got != want {
				t.Errorf("%s: %v, want one for %s", name, err, want)
			}
		}
		for _, v := range []fl.Value{fl.Int(7), fl.Int(-1), fl.Real(1.5), fl.Text("2")} {
			r := pckvRound(name)
			r.Params = fl.Params{keyvalue.ParamPadding: v}
			if _, err := fl.Open(r); err == nil || param(t, err) != keyvalue.ParamPadding {
				t.Errorf("%s: padding %v: %v", name, v, err)
			}
		}
		r := pckvRound(name)
		r.Epsilon = 1e-16
		if _, err := fl.Open(r); err == nil || param(t, err) != "epsilon" {
			t.Errorf("%s: epsilon 1e-16: %v", name, err)
		}
		r = pckvRound(name)
		r.Params = nil
		if r, _, err := fl.Complete(r); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if padding, err := r.Params.Int(keyvalue.ParamPadding); padding != 6 || err != nil {
			t.Errorf("%s: the padding becomes %d (%v), want dim", name, padding, err)
		}
	}
}

func TestBadInputsAreRefused(t *testing.T) {
	for _, name := range pckvNames {
		m, err := fl.Open(pckvRound(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, grad := range [][]float64{nil, make([]float64, 7), {0, 0, math.NaN(), 0, 0, 0}, {0, 0, 0, 0, 0, math.Inf(-1)}} {
			if out, err := m.Encode([]byte("x"), grad, nil); err == nil || param(t, err) != "gradient" || string(out) != "x" {
				t.Errorf("%s: %v: %q, %v", name, grad, out, err)
			}
		}
		for _, pairs := range [][]fl.KeyValue{{{Key: 6}}, {{Key: 1}, {Key: 1}}, {{Key: 1, Value: 1.1}}, {{Key: 1, Value: math.NaN()}}} {
			if out, err := m.(fl.KeyValueMechanism).EncodeKeyValues([]byte("x"), pairs, nil); err == nil || param(t, err) != "pairs" || string(out) != "x" {
				t.Errorf("%s: %v: %q, %v", name, pairs, out, err)
			}
		}
	}
}

// The mean is the mean of the clipped gradients, in their units: coordinates 1 and 4 of 6
// are clipped or scaled. 3 × 6 deviations within 5.5 standard errors: false positives
// below 1e-6.
func TestGradientsAreClippedAndScaled(t *testing.T) {
	grad := []float64{0, -3, 0, 0, 0.125, 0}
	for i, name := range pckvNames {
		m, err := fl.Open(pckvRound(name))
		if err != nil {
			t.Fatal(err)
		}
		agg := m.NewAggregator()
		rng := rand.New(rand.NewChaCha8([32]byte{14, byte(i)}))
		for range 20_000 {
			report, err := m.Encode(nil, grad, rng)
			if err != nil {
				t.Fatal(err)
			}
			if s, ok := m.(fl.ReportSizer); ok != (name != keyvalue.PCKVUE) || ok && s.ReportBytes() != len(report) {
				t.Fatalf("%s: a report of %d bytes", name, len(report))
			}
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
		}
		e, err := agg.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range []float64{0, -0.5, 0, 0, 0.125, 0} {
			if math.Abs(e.Mean().Value[j]-want) > 5.5*e.Mean().StdErr[j] || e.Mean().StdErr[j] > 0.01 {
				t.Errorf("%s: coordinate %d: %g ± %g, want %g", name, j, e.Mean().Value[j], e.Mean().StdErr[j], want)
			}
		}
	}
}

func TestGuarantees(t *testing.T) {
	for _, name := range pckvNames {
		m, err := fl.Open(pckvRound(name))
		if err != nil {
			t.Fatal(err)
		}
		if g := m.Guarantee(); g != (fl.Guarantee{Trust: fl.Local, Epsilon: 8, Relation: fl.ReplaceOne}) {
			t.Errorf("%s: %v", name, g)
		}
		if central, err := m.(fl.Amplifier).Shuffled().Epsilon(10_000_000, 1e-6); err != nil || !(central > 0 && central < 1) {
			t.Errorf("%s: central ε %g, %v", name, central, err)
		}
		if _, err := m.(fl.KeyValueMechanism).EncodeKeyValues(nil, nil, nil); err != nil {
			t.Errorf("%s: without pairs: %v", name, err)
		}
	}
}

// A sparse report costs what it holds: of 2^20 positions PCKV-UE sends a share of
// 2/(e^ε+3), 699 of 2^20 at ε = 8 with standard deviation 26, one or two bytes each.
func BenchmarkEncode(b *testing.B) {
	for _, name := range pckvNames {
		b.Run(name, func(b *testing.B) {
			r := pckvRound(name)
			r.Dim = 1 << 20
			m, err := fl.Open(r)
			if err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewChaCha8([32]byte{15}))
			var report []byte
			for b.Loop() {
				if report, err = m.(fl.KeyValueMechanism).EncodeKeyValues(report[:0], []fl.KeyValue{{Key: 5, Value: 1}}, rng); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(report)), "report-bytes")
		})
	}
}
