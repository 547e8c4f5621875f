package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/fl"
)

// The best on digits alone loses where the pictures are others. Features that are a little worse on each
// kind have the smaller loss.
func TestTheChoiceLosesLeastOnEachKind(t *testing.T) {
	c := Choice{Public: []string{"digits", "textures"}, Considered: []Candidate{
		{Task: Task{Features: "for digits"}, Accuracy: []float64{0.99, 0.6}},
		{Task: Task{Features: "for textures"}, Accuracy: []float64{0.7, 0.84}},
		{Task: Task{Features: "for both"}, Accuracy: []float64{0.97, 0.81}},
	}}
	c.order()
	var names []string
	for i, one := range c.Considered {
		names = append(names, one.Features)
		if want := []float64{0.03, 0.24, 0.29}[i]; one.Loss < want-1e-9 || one.Loss > want+1e-9 {
			t.Errorf("%s: a loss of %g, want %g", one.Features, one.Loss, want)
		}
	}
	if !slices.Equal(names, []string{"for both", "for digits", "for textures"}) {
		t.Errorf("the order is %q", names)
	}
	var text strings.Builder
	if err := c.Explain(&text); err != nil || !strings.Contains(text.String(), "for both") || !strings.Contains(text.String(), "0.970") || !strings.Contains(text.String(), "0.810") {
		t.Errorf("%v:\n%s", err, text.String())
	}
	fitsATerminal(t, text.String())
}

// Outside the measured range the nearest run counts. Without noise it is the run without privacy.
func TestTheNearestMeasuredRunCounts(t *testing.T) {
	c := curve{exact: 0.95, rows: []sample{{Noise: 0.01, Accuracy: 0.9}, {Noise: 0.04, Accuracy: 0.8}}}
	for noise, want := range map[float64]float64{0: 0.95, 0.001: 0.9, 0.01: 0.9, 0.02: 0.85, 0.04: 0.8, 5: 0.8} {
		if got := c.near(noise); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("noise %g: %g, want %g", noise, got, want)
		}
	}
}

// The real figures choose: handwriting features for digits. A request of other rounds is compared at the noise
// of the mean of all rounds, and without privacy there is none.
func TestFeaturesAreChosenFromPublicFigures(t *testing.T) {
	q := Request{Mechanism: "coco", Clients: 60000, Rounds: 30, Budget: 0.1, Delta: 1e-6}
	choice, err := q.ChooseFeatures(t.Context(), []string{Digits})
	if err != nil {
		t.Fatal(err)
	}
	best := choice.Considered[0]
	if !strings.HasPrefix(best.Features, "glyphs") || best.Loss != 0 || best.Noise == 0 {
		t.Errorf("%+v", choice)
	}
	run, err := best.Of(q).Run(t.Context())
	if err != nil || run.Schedule.Noise != best.Noise {
		t.Errorf("the plan's noise is %g, the choice's %g, %v", run.Schedule.Noise, best.Noise, err)
	}
	q.Mechanism, q.Budget = "none", 0
	exact, err := q.ChooseFeatures(t.Context(), []string{Digits})
	if err != nil || exact.Considered[0].Noise != 0 {
		t.Errorf("without privacy: %+v, %v", exact, err)
	}
}

func TestChoicesThatCannotBeMade(t *testing.T) {
	ask := func(mechanism string, public ...string) error {
		_, err := Request{Mechanism: mechanism, Clients: 1000, Rounds: 3, Budget: 1, Delta: 1e-6}.ChooseFeatures(t.Context(), public)
		return err
	}
	_, unknown := NewTask("dreams")
	_, kind := ParsePublic("digits,clouds")
	_, twice := ParsePublic("digits,digits")
	for what, c := range map[string]struct {
		err   error
		param string
	}{
		"a sum":            {ask("sumdp", Digits), "mechanism"},
		"no kind":          {ask(auto.Name), "public"},
		"unknown features": {unknown, "features"},
		"unknown kind":     {kind, "-public"},
		"a kind twice":     {twice, "-public"},
	} {
		var bad *fl.ParamError
		if !errors.As(c.err, &bad) || bad.Param != c.param {
			t.Errorf("%s: error %v, want one about %s", what, c.err, c.param)
		}
	}
	if all, err := ParsePublic(""); err != nil || !slices.Contains(all, Digits) {
		t.Errorf("all kinds: %q, %v", all, err)
	}
}
