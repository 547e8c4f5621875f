package verify_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/privacy/verify"
)

// enumerable is what the wrappers below share.
type enumerable struct{ verify.Enumerable }

// leaky gives the seed away: it depends on the input.
type leaky struct{ enumerable }

func (l leaky) EncodeTernary(dst []byte, x fl.Ternary, rng *rand.Rand) ([]byte, error) {
	return l.EncodeChoosing(dst, x, rng.Uint32()<<1|x.Index[0]&1, exact.Rand{Rand: rng})
}

// detour sends reports from gradients that are none of the round's.
type detour struct{ enumerable }

func (d detour) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	report, err := d.Enumerable.Encode(dst, grad, rng)
	if err == nil && grad[0] > 0 {
		report[len(report)-1] = 0xFF
	}
	return report, err
}

func TestWhatWasEnumeratedIsWhatRuns(t *testing.T) {
	r := round("collision", 3, 2, 4, "gf2", 1)
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	e := enumerable{m.(verify.Enumerable)}
	for want, m := range map[string]fl.Mechanism{
		"EncodeTernary sends": leaky{e}, "no input should": detour{e},
	} {
		report := audit(t, m, r, verify.Options{Seeds: 5})
		if report.Holds || len(report.Faults) != 1 || !strings.Contains(report.Faults[0], want) || report.EpsilonFound > 1 || report.EpsilonPromised != 1 {
			t.Errorf("want a fault with %q: %+v", want, report)
		}
	}
	if report := audit(t, e, r, verify.Options{Seeds: 5}); !report.Holds {
		t.Errorf("%+v", report)
	}
}
