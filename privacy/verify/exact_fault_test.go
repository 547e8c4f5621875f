package verify_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/privacy/verify"
	"github.com/hushgrad/hushgrad/sparse"
)

// fault changes one thing in a copy of CoCo's randomizer.
type fault struct {
	weights     func(w exact.Weights, s int) exact.Weights // nil: the right ones
	classes     func(c []uint64)                           // nil: the right order
	only        func(x fl.Ternary) bool                    // inputs with the wrong order; nil: all
	noOverwrite bool                                       // every item marks its pair, also one that is marked
}

// paired is a copy of the randomizer of CoCo (Algorithm 1).
type paired struct {
	fault
	w     exact.Weights
	slots uint32
}

func (p *paired) Slot(x fl.Ternary, f sparse.HashFunc, choose exact.Chooser) uint32 {
	var marked []uint32
	var claims []uint64
	for i, j := range x.Index {
		slot := sparse.Paired.Item(f, j, x.Sign[i])
		at := slices.IndexFunc(marked, func(m uint32) bool { return m>>1 == slot>>1 })
		if at < 0 || p.noOverwrite {
			marked, claims = append(marked, slot), append(claims, 1)
			continue
		}
		if claims[at]++; choose.Uniform(claims[at]) == 0 {
			marked[at] = slot
		}
	}
	n := uint64(len(marked))
	classes := []uint64{n * p.w.High, n * p.w.Low, p.w.Total - n*(p.w.High+p.w.Low)}
	if p.classes != nil && (p.only == nil || p.only(x)) {
		p.classes(classes)
	}
	class := choose.Weighted(classes)
	if class < 2 {
		return marked[choose.Uniform(n)] ^ uint32(class)
	}
	var others []uint32
	for slot := range p.slots {
		if !slices.ContainsFunc(marked, func(m uint32) bool { return m>>1 == slot>>1 }) {
			others = append(others, slot)
		}
	}
	return others[choose.Uniform(uint64(len(others)))]
}

// planted is the mechanism of r with a randomizer that has the fault.
func planted(t *testing.T, r fl.Round, f fault) fl.SparseMechanism {
	t.Helper()
	m, err := sparse.NewScheme(sparse.Definition{
		Name:     coco.Name,
		Layout:   sparse.Paired,
		MinSlots: func(s int) int { return 2 * s },
		Likely:   func(s int) int { return s },
		Calibrate: func(_ sparse.Chances, _ sparse.Point, high, low, total float64) sparse.Calibration {
			return sparse.Calibration{
				In:  sparse.Joint{Own: high / total, Opposite: low / total},
				Out: sparse.Joint{Own: 1 / total, Opposite: 1 / total},
			}
		},
		NewSampler: func(w exact.Weights, s, slots int) sparse.Sampler {
			if f.weights != nil {
				w = f.weights(w, s)
			}
			return &paired{fault: f, w: w, slots: uint32(slots)}
		},
	}).Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return m.(fl.SparseMechanism)
}

func audit(t *testing.T, m fl.Mechanism, r fl.Round, o verify.Options) *verify.Report {
	t.Helper()
	o.Rand = seeded()
	report, err := verify.Mechanism(t.Context(), m, r, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestExactFindsPlantedFaults(t *testing.T) {
	r := round("coco", 3, 2, 6, "ideal", 0.1)
	for name, c := range map[string]struct {
		fault   fault
		holds   bool
		epsilon func(float64) bool
		fault1  string // what the first fault says
	}{
		"none":            {fault{}, true, func(e float64) bool { return e <= 0.1 && e > 0.0999 }, ""},
		"swapped classes": {fault{classes: func(c []uint64) { c[0], c[2] = c[2], c[0] }}, false, func(e float64) bool { return e > 1 }, ""},
		"no overwriting":  {fault{noOverwrite: true}, false, func(e float64) bool { return e > 0.5 }, ""},
		"Ω too large": {fault{weights: func(w exact.Weights, s int) exact.Weights {
			w.Total += uint64(s) * w.Low
			return w
		}}, false, func(e float64) bool { return e > 0.5 }, ""},
		"Ω too small": {fault{weights: func(w exact.Weights, s int) exact.Weights {
			w.Total -= uint64(s) * w.Low * 3 / 2
			return w
		}}, false, func(float64) bool { return true }, "probabilities sum to"},
		"rounded up": {fault{weights: func(w exact.Weights, s int) exact.Weights {
			w.High++
			w.Total += uint64(s)
			return w
		}}, false, func(e float64) bool { return e > 0.1 && e < 0.1+1e-12 }, ""},
		"no partners": {fault{classes: func(c []uint64) { c[0], c[1] = c[0]+c[1], 0 }}, false, func(e float64) bool { return math.IsInf(e, 1) }, ""},
		"a single input, low": {fault{
			classes: func(c []uint64) { c[1], c[2] = c[1]/4, c[2]+c[1]-c[1]/4 },
			only:    func(x fl.Ternary) bool { return x.Index[0] == 4 && x.Index[1] == 3 && x.Sign[0] > x.Sign[1] },
		}, false, func(e float64) bool { return e > math.Log(4) }, ""},
		// Twice the weight of the partners, and so a larger sum: the ratio 1.72 comes
		// from its largest probability, where its smallest ones give 1.46 at most.
		"a single input, high": {fault{
			classes: func(c []uint64) { c[1] *= 2 },
			only:    func(x fl.Ternary) bool { return x.Index[0] == 4 && x.Index[1] == 3 && x.Sign[0] > x.Sign[1] },
		}, false, func(e float64) bool { return e > math.Log(1.5) }, ""},
		"nothing to choose from": {fault{classes: func(c []uint64) { clear(c) }}, false, func(float64) bool { return true }, "nothing to choose from"},
	} {
		report := audit(t, planted(t, r, c.fault), r, verify.Options{Method: verify.Exact, Seeds: 20})
		if report.Holds != c.holds || !c.epsilon(float64(report.EpsilonFound)) {
			t.Errorf("%s: holds %v, ε = %.17g", name, report.Holds, report.EpsilonFound)
		}
		if (c.fault1 != "") != (len(report.Faults) > 0) || c.fault1 != "" && !strings.Contains(report.Faults[0], c.fault1) {
			t.Errorf("%s: faults %q, want %q", name, report.Faults, c.fault1)
		}
		if !c.holds && c.fault1 == "" && (report.Worst.Input == report.Worst.Other || report.Worst.Report == "" || report.Worst.Ratio == "") {
			t.Errorf("%s: worst %+v", name, report.Worst)
		}
	}
}
