package training

import (
	"errors"
	"slices"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
)

// owned are mechanisms as --with has them.
func owned(t *testing.T, values ...string) []experiment.Own {
	t.Helper()
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	read := experiment.BindWith(f)
	for _, v := range values {
		if err := f.Parse([]string{"--with", v}); err != nil {
			t.Fatal(err)
		}
	}
	own, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// A mechanism of one's own trains with the clip of ours: the worth of an entry where it counts entries, and the L2 norm else.
func TestAccuracyOfMechanismsOfOnesOwn(t *testing.T) {
	data := digits(t, 450, 100)
	s := sweep{rounds: 3, delta: 1e-6, server: planAll, locals: []float64{2}, centrals: []float64{2}, repeats: 1, features: []string{dataset.DemoFeatures}}
	own := owned(t, "coco:sparsity=s", "privunit")
	s.contenders = slices.Concat([]contender{contenders[slices.Index(contenderNames(), "coco")]}, ownContenders(own))
	r, err := s.on(t.Context(), experiment.Env{Seed: 5, Jobs: 2}, data)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 3 {
		t.Fatalf("%d rows", len(r.Rows))
	}
	at := func(row int, column string) any { return r.Rows[row][slices.Index(r.Columns, column)] }
	for _, column := range []string{"epsilon_local", "epsilon_central", "sparsity", "scale", "bytes_per_report"} {
		if at(0, column) != at(1, column) {
			t.Errorf("%s: %v of coco, %v of coco by --with", column, at(0, column), at(1, column))
		}
	}
	if at(1, "mechanism") != "coco:sparsity=s" || at(2, "mechanism") != "privunit" || at(2, "scale") != at(2, "l2") {
		t.Errorf("rows %v", r.Rows[1:])
	}
}

// A mechanism of one's own takes the place of coco or of privunit in a plan, for the settings in which nobody is trusted. Liars move
// its mean: where all of them send the best of 5000 reports for the bias of class 0, the mean is that report's, many standard errors of an
// honest round below 0.
func TestLiarsAgainstAMechanismOfOnesOwn(t *testing.T) {
	l := liars{
		federations: federations{features: []string{dataset.Edges}, repeats: 1, quick: true, settings: []situation{{plan.Shuffler, 300, 1}, {plan.Nobody, 300, 8}}},
		attacks:     []string{parties.BiasAttack, parties.ReverseAttack}, shares: []float64{0, 0.5}, own: owned(t, "coco:sparsity=s", "privunit"),
	}
	if err := l.checkOwn(); err != nil {
		t.Fatal(err)
	}
	data := digits(t, 450, 100)
	cells, err := l.withOwn(t.Context(), experiment.Env{Seed: 3, Jobs: 1}, data)
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) != 6 {
		t.Fatalf("%d cells", len(cells))
	}
	for i, c := range cells {
		if want := l.own[i/3].Label; c.runs[0].Mechanism != want || c.trust != plan.Nobody || c.runs[0].Rounds != 3 {
			t.Errorf("cell %d is of %+v with trust %s, want %s", i, c.runs[0], c.trust, want)
		}
	}
	task, err := newTask(t.Context(), experiment.Env{}, data, dataset.Edges)
	if err != nil {
		t.Fatal(err)
	}
	public, err := dataset.NewPublic(t.Context(), dataset.Digits, 10, task.opened, dataset.ToRehearse, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range l.own {
		run, _, err := l.planOwn(t.Context(), o, l.settings[1], public)
		if err != nil {
			t.Fatal(err)
		}
		mean := func(share float64) (value, stdErr float64) {
			rng := experiment.Stream(3)
			clients, err := task.deal(rng)
			if err != nil {
				t.Fatal(err)
			}
			r, err := ownRecipe(run, task.model, &parties.Liars{Share: share, Attack: parties.BiasAttack}, task.train.Classes).open(clients, rng)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			e, err := r.Mean(t.Context(), 0, task.model.Init(rng))
			if err != nil || r.Bytes() == 0 || e.Reports != int64(run.Cohort) {
				t.Fatalf("%d bytes, %v", r.Bytes(), err)
			}
			first := task.model.Dim() - task.train.Classes
			return e.Mean().Value[first], e.Mean().StdErr[first]
		}
		_, noise := mean(0)
		if lied, _ := mean(1); lied > -5*noise {
			t.Errorf("%s: liars move the bias to %g, at a noise of %g", o.Label, lied, noise)
		}
	}
	bad, other := l, l
	bad.attacks = []string{parties.BackdoorAttack}
	other.settings = l.settings[:1]
	for param, c := range map[string]liars{"--attacks": bad, "--settings": other} {
		var wrong *fl.ParamError
		if err := c.checkOwn(); !errors.As(err, &wrong) || wrong.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
}
