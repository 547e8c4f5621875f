package rivals_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/fl"
)

// Encode is EncodeKeyValues of the non-zero coordinates in units of the scale.
func TestEncodeSendsTheNonZeroCoordinates(t *testing.T) {
	for _, name := range privKVNames {
		r := rivals.CompleteRound(t, name, 4, 20, nil)
		r.Scale = 2
		opened, err := fl.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		m := opened.(fl.KeyValueMechanism)
		for seed := range byte(100) {
			a, err := m.Encode(nil, []float64{0, 1, -7, 0}, rand.New(rand.NewChaCha8([32]byte{seed})))
			if err != nil {
				t.Fatal(err)
			}
			b, err := m.EncodeKeyValues(nil, []fl.KeyValue{{Key: 1, Value: 0.5}, {Key: 2, Value: -1}}, rand.New(rand.NewChaCha8([32]byte{seed})))
			if err != nil || string(a) != string(b) {
				t.Fatalf("%s: %x and %x, %v", name, a, b, err)
			}
		}
	}
}

func TestPrivKVBadRoundsAreRefused(t *testing.T) {
	for _, name := range privKVNames {
		for param, change := range map[string]func(r *fl.Round){
			"epsilon":  func(r *fl.Round) { r.Epsilon = math.Inf(1) },
			"delta":    func(r *fl.Round) { r.Delta = 0.1 },
			"relation": func(r *fl.Round) { r.Relation = fl.ZeroOut },
			"params":   func(r *fl.Round) { r.Params = r.Params.With("sparsity", fl.Int(1)) },
			"rounds":   func(r *fl.Round) { r.Params = fl.Params{"rounds": fl.Int(0), "virtual": fl.Int(1)} },
			"virtual":  func(r *fl.Round) { r.Params = fl.Params{"rounds": fl.Int(1), "virtual": fl.Int(1001)} },
		} {
			r := rivals.CompleteRound(t, name, 5, 2, nil)
			change(&r)
			if name != rivals.PrivKVM && (param == "rounds" || param == "virtual") {
				param = "params"
			}
			var p *fl.ParamError
			if _, err := fl.Open(r); !errors.As(err, &p) || p.Param != param {
				t.Errorf("%s: %v, want a ParamError for %s", name, err, param)
			}
		}
		r := rivals.CompleteRound(t, name, 5, 2, nil)
		r.Epsilon = 1e-300
		if _, err := fl.Open(r); err == nil {
			t.Errorf("%s: a budget of 1e-300: want an error", name)
		}
		m := open(t, name, 5, 2, nil)
		for _, pairs := range [][]fl.KeyValue{{{Key: 5}}, {{Key: 1}, {Key: 1}}, {{Key: 2}, {Key: 1}}, {{Key: 1, Value: 1.5}}, {{Key: 1, Value: math.NaN()}}} {
			var p *fl.ParamError
			out, err := m.EncodeKeyValues([]byte("x"), pairs, nil)
			if !errors.As(err, &p) || p.Param != "pairs" || string(out) != "x" {
				t.Errorf("%s: %v: %q, %v", name, pairs, out, err)
			}
		}
		if out, err := m.Encode([]byte("x"), []float64{1, 2, 3, 4, math.NaN()}, nil); err == nil || string(out) != "x" {
			t.Errorf("%s: a gradient with NaN: %q, %v", name, out, err)
		}
	}
}

func TestUnusedBudgetIsCommented(t *testing.T) {
	for rounds, want := range map[int]int{1: 0, 3: 1} {
		m := open(t, rivals.PrivKVM, 5, 2, fl.Params{"rounds": fl.Int(rounds)})
		if advice := m.(fl.Adviser).Advice(); len(advice) != want {
			t.Errorf("%d rounds: %q", rounds, advice)
		}
	}
}

// A report is refused, or counted as exactly one: no bytes panic.
func FuzzPrivKVAdd(f *testing.F) {
	f.Add(uint16(5), []byte{3})
	f.Add(uint16(300), []byte{0xff, 0x03})
	f.Fuzz(func(t *testing.T, dim uint16, report []byte) {
		for _, name := range privKVNames {
			agg := open(t, name, 1+int(dim), 1, nil).NewAggregator()
			err := agg.Add(report)
			e, none := agg.Estimate()
			if errors.Is(err, fl.ErrBadReport) != errors.Is(none, fl.ErrNoReports) || err == nil && e.Reports != 1 {
				t.Errorf("%s: % x: %v, then %v", name, report, err, none)
			}
		}
	})
}
