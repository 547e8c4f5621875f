package shares_test

import (
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/hdsum/shares"
)

// variance is what an estimate of min_reports reports states for a coordinate.
func variance(t *testing.T, r fl.Round) float64 {
	t.Helper()
	r, m, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	a := m.NewAggregator()
	for range r.MinReports {
		report, err := m.Encode(nil, make([]float64, r.Dim), nil)
		if err == nil {
			err = a.Add(report)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	e, err := a.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	s := e.Mean().StdErr[0]
	return s * s
}

// For the same round the noise is half of what the merged form needs under zero-out, and no more under
// replace-one. Package hdsum keeps a tenth of δ for its floods, and gkmps a tenth of ε.
func TestNoMoreNoiseThanTheMergedForm(t *testing.T) {
	for relation, c := range map[fl.Relation]struct{ least, most float64 }{fl.ReplaceOne: {0.7, 1}, fl.ZeroOut: {0.35, 0.52}} {
		for _, base := range []string{"bbgn", "gkmps"} {
			r := fl.Round{
				ID: "r", Mechanism: hdsum.Name, Dim: 64, Scale: 1, Epsilon: 1, Delta: 1e-6, Relation: relation,
				MinReports: 30, PublicSeed: [32]byte{1}, Params: fl.Params{hdsum.ParamBase: fl.Text(base)},
			}
			merged := variance(t, r)
			r.Mechanism, r.Params = shares.Name, nil
			if ratio := variance(t, r) / merged; !(ratio >= c.least && ratio <= c.most) {
				t.Errorf("%v: %.3f times the noise of %s, want %g to %g", relation, ratio, base, c.least, c.most)
			}
		}
	}
}
