package verify_test

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/bigref"
	"github.com/hushgrad/hushgrad/privacy/verify"
	"github.com/hushgrad/hushgrad/privunit"
)

func ranked(t *testing.T, dim, candidates int, epsilon float64) fl.Round {
	t.Helper()
	return mustComplete(t, fl.Round{
		ID: "r", Mechanism: privunit.Name, Dim: dim, Scale: 0.5, Epsilon: epsilon, MinReports: 1, PublicSeed: [32]byte{1},
		Params: fl.Params{privunit.ParamCandidates: fl.Int(candidates)},
	})
}

// Gradients of any dimension and any number of candidates are enumerated, and the bound is attained.
func TestPrivUnitHoldsExactly(t *testing.T) {
	seeds := 2
	if *long {
		seeds = 5
	}
	for _, c := range []struct {
		dim, candidates int
		epsilon         float64
	}{{1, 2, 1}, {2, 8, 0.1}, {650, 256, 4}, {3, 300, 20}} {
		report := check(t, ranked(t, c.dim, c.candidates, c.epsilon), verify.Options{Seeds: seeds})
		if !report.Holds || report.Method != verify.Exact || report.Inputs != 15 || report.Seeds != seeds || len(report.Faults) > 0 {
			t.Errorf("%+v: %+v", c, report)
		}
		ratio, ok := new(big.Rat).SetString(report.Worst.Ratio)
		if !ok || ratio.Cmp(bigref.LowerExp(c.epsilon)) > 0 || float64(report.EpsilonFound) < c.epsilon-0x1p-23 {
			t.Errorf("%+v: ratio %s, ε found %g", c, report.Worst.Ratio, float64(report.EpsilonFound))
		}
	}
	report := check(t, ranked(t, 2, 4, 1), verify.Options{Method: verify.Auto, Seeds: 200, Limit: 2000, Samples: 100})
	if report.Method != verify.Statistical {
		t.Errorf("15 inputs of 200 seeds do not fit 2000: %+v", report)
	}
}

// preparer is what the wrappers below share.
type preparer struct{ verify.Preparer }

// eager takes the better of two reports of some gradients.
type eager struct{ preparer }

func (p eager) Prepare(grad []float64, seed uint32) (func([]byte, verify.Chooser) []byte, error) {
	report, err := p.preparer.Prepare(grad, seed)
	return func(dst []byte, choose verify.Chooser) []byte {
		first := report(nil, choose)
		if grad[0] > 0 {
			if second := report(nil, choose); second[4] < first[4] {
				first = second
			}
		}
		return append(dst, first...)
	}, err
}

// another has an Encode of its own.
type another struct{ preparer }

func (p another) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	report, err := p.Prepare(grad, rng.Uint32()^1)
	if err != nil {
		return dst, err
	}
	return report(dst, exact.Rand{Rand: rng}), nil
}

func TestFaultsOfPreparersAreFound(t *testing.T) {
	r := ranked(t, 2, 4, 1)
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	p := preparer{m.(verify.Preparer)}
	if report := audit(t, p, r, verify.Options{Seeds: 5}); !report.Holds {
		t.Errorf("%+v", report)
	}
	if report := audit(t, eager{p}, r, verify.Options{Seeds: 5}); report.Holds || report.EpsilonFound < 1.2 {
		t.Errorf("two tries: %+v", report)
	}
	if report := audit(t, another{p}, r, verify.Options{Seeds: 5}); report.Holds || len(report.Faults) != 1 || !strings.Contains(report.Faults[0], "Encode sends") {
		t.Errorf("another Encode: %+v", report)
	}
}
