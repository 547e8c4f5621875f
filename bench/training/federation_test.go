package training

import (
	"context"
	"errors"
	"flag"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

var long = flag.Bool("long", false, "run examples/mnist, too")

// The real command trains for a few rounds, and its summary has everything that the table shows.
func TestTheFederationIsTheRealCommand(t *testing.T) {
	if !*long {
		t.Skip("needs half a minute: -long")
	}
	f := federations{features: []string{"glyphs"}, centrals: []float64{1}, repeats: 1, quick: true}
	r, err := f.run(t.Context(), experiment.Env{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil || len(r.Rows) != 1 || len(r.Verdicts) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	glyphs := r.Rows[0]
	if a, zero := glyphs[5].(float64), glyphs[9].(float64); a < 0.9 || zero < 0.9 {
		t.Errorf("glyphs %v", glyphs)
	}
	if central, local := glyphs[2].(float64), glyphs[3].(float64); central <= 0.9 || central > 1 || local <= 0 || glyphs[12] != 3000 || glyphs[13] != 650 || glyphs[14] != 6. {
		t.Errorf("glyphs %v", glyphs)
	}
}

// Only runs on MNIST are compared with what MNIST should reach, and intervals are over the repeats.
func TestTheFederationReportsItsGoals(t *testing.T) {
	run := func(accuracy float64) summary { return summary{Accuracy: accuracy, Central: 0.99} }
	f := federations{features: []string{"glyphs", "identity"}, centrals: []float64{1}, goals: true}
	cells := []*federated{
		{features: "glyphs", budget: 1, runs: []summary{run(0.97), run(0.98)}},
		{features: "identity", budget: 1, runs: []summary{run(0.9)}},
	}
	r := f.report(cells)
	if len(r.Verdicts) != 1 || r.Verdicts[0].Holds || r.Rows[0][5] != 0.975 || !(r.Rows[0][6].(float64) < 0.97) || r.Rows[1][6] != 0.9 {
		t.Errorf("%+v", r)
	}
	cells[0].runs[0].Accuracy = 0.9999
	if r := f.report(cells); !r.Verdicts[0].Holds {
		t.Errorf("%+v", r.Verdicts)
	}
	f.goals = false
	if r := f.report(cells); len(r.Verdicts) != 0 {
		t.Errorf("other pictures: %+v", r.Verdicts)
	}
}

func TestAFederationStops(t *testing.T) {
	f := federations{features: []string{"glyphs"}, centrals: []float64{1}, repeats: 1, quick: true}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.run(ctx, experiment.Env{Jobs: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}
