package verify_test

import (
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/privacy/verify"
)

func TestReportsAsText(t *testing.T) {
	seed := uint32(7)
	exact := verify.Worst{Input: "[+0]", Other: "[-0]", Ratio: "5/2", Seed: &seed, Report: "0700"}
	for want, r := range map[string]verify.Report{
		"HOLDS: ε = 0.5 at most":                                   {Method: verify.Exact, Holds: true, EpsilonFound: 0.5, EpsilonPromised: 1, Worst: &exact},
		"Worst: [+0] against [-0], seed 7, report 0700, ratio 5/2": {Method: verify.Exact, Worst: &exact},
		"VIOLATION: ε = +Inf.":                                     {Method: verify.Exact, EpsilonFound: verify.Epsilon(math.Inf(1)), EpsilonPromised: 1},
		"VIOLATION: ε >= 2 with confidence 0.9":                    {Method: verify.Statistical, EpsilonFound: 2, EpsilonPromised: 1, Confidence: 0.9},
		"No violation found (this is not a proof): ε >= 0.5":       {Method: verify.Statistical, Holds: true, EpsilonFound: 0.5, EpsilonPromised: 1},
		"VIOLATION: see the faults":                                {Method: verify.Exact, EpsilonFound: 1, EpsilonPromised: 1, Faults: []string{"x"}},
		"Fault: x.\n":                                              {Faults: []string{"x"}},
		"Note: y.\n":                                               {Notes: []string{"y"}},
		"event {1}: at least 0.5 against at most 0.25":             {Worst: &verify.Worst{Event: "{1}", Lower: 0.5, Upper: 0.25}},
	} {
		var b strings.Builder
		if err := r.Write(&b); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%q, %v, want %q in it", b.String(), err, want)
		}
	}
}

func TestEpsilonInJSON(t *testing.T) {
	for _, e := range []verify.Epsilon{0, 0.1, verify.Epsilon(math.Inf(1))} {
		data, err := e.MarshalJSON()
		var back verify.Epsilon
		if err != nil || back.UnmarshalJSON(data) != nil || back != e {
			t.Errorf("%g: %s, %v, read back %g", float64(e), data, err, float64(back))
		}
	}
}
