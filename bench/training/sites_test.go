package training

import (
	"cmp"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
)

// Every method trains. The noise of n sites is √n times a trusted server's, and the noise of two servers √2 times, up to the rounding
// of gradients. All rounds keep the budget.
func TestSitesHaveTheNoiseOfTheirMethod(t *testing.T) {
	s := sites{sweep: sweep{server: server{momentum: -1, averaging: -1}, rounds: 3, delta: 1e-6, centrals: []float64{2}, features: []string{dataset.Edges}}, sites: 12}
	r, err := s.run(t.Context(), experiment.Env{Quick: true, Jobs: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil || len(r.Rows) != 5 || len(r.Verdicts) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	noise := map[string]float64{}
	for _, row := range r.Rows {
		noise[row[0].(string)] = row[14].(float64)
		if accuracy := row[5].(float64); !(accuracy > 0.15) {
			t.Errorf("%v", row)
		}
	}
	for method, want := range map[string]float64{"gaussian-site": math.Sqrt(12), "gaussian-shares": math.Sqrt2, "alone": 12} {
		if got := noise[method] / noise["central"]; !(got > 0.99*want && got < 1.03*want) {
			t.Errorf("%s has %.3f times a trusted server's noise, want %.3f", method, got, want)
		}
	}
	for _, row := range r.Rows[1:3] {
		m, err := fl.Open(fl.Round{
			ID: "r", Mechanism: row[0].(string), Dim: row[11].(int), Scale: 1, Epsilon: row[4].(float64), Delta: 1e-6, Relation: fl.ReplaceOne, MinReports: 12, PublicSeed: [32]byte{1},
		})
		if err != nil {
			t.Fatal(err)
		}
		spending, err := plan.NewSpending(m, 12, 12, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := spending.Promise(t.Context(), 3); err != nil || !(*cmp.Or(p.Central, p.LocalTotal) <= 2 && *cmp.Or(p.Central, p.LocalTotal) > 1.9) {
			t.Errorf("%v: 3 rounds cost %v, %v", row[0], p, err)
		}
	}
}
