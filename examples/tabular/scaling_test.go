package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// skewed are rows of a column with a few large numbers, one in a hundredth of its range, one that mostly has one number, and one of which
// nothing is known.
func skewed(n int, s schema) rows {
	rng := rand.New(rand.NewPCG(7, 8))
	t := newTable(s, "row")
	for i := range n {
		often := "40"
		if rng.IntN(3) == 0 {
			often = text(60 * rng.Float64())
		}
		cells := []string{text(math.Exp(rng.NormFloat64())), text(900 + 10*rng.NormFloat64()), often, "", "a", text(3 + 0.5*rng.NormFloat64())}
		t.add(i+1, cells, false)
	}
	return t.train
}

const skewedColumns, skewedTarget = "pay=0..100,level=0..1000,hours=0..100,none=0..1,kind=a|b", "y=0..100"

// learnt has clients say where their numbers are, in rounds of a mechanism, and returns the scaling.
func learnt(t *testing.T, s schema, r rows, dim int, run *plan.Run, seed uint64) (*scaling, preparation) {
	t.Helper()
	scale := newScaling(s)
	prepared, err := scale.prepare(run)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, seed))
	columns := &learning{scaling: scale, rows: r, order: rng.Perm(len(r.y)), dim: dim, magnitude: prepared.magnitude}
	rounds, err := trainer.NewSimulation(trainer.SimulationConfig{
		Gradients: columns, Cohort: run.Cohort, Rand: rng, Describe: func(i int) fl.Round { return run.Round("r", [32]byte{1, byte(i), byte(seed)}) },
	})
	if err == nil {
		err = columns.learn(t.Context(), rounds, prepared.rounds)
	}
	if err != nil {
		t.Fatal(err)
	}
	return scale, prepared
}

// Without noise centres and spreads are where clients' answers balance. With noise they are near, in spreads.
func TestCentresAndSpreadsAreLearnt(t *testing.T) {
	s := someSchema(t, skewedColumns, skewedTarget)
	r := skewed(4000, s)
	request := plan.Request{Mechanism: "none", Clients: len(r.y), Dim: s.width() + 1, Delta: 1e-6, L1: 1, L2: 1, Smooth: &plan.Smooth{Curvature: 5, Norm: 1, Loss: 0.25}}
	bare, err := request.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exact, prepared := learnt(t, s, r, request.Dim, bare, 2)
	if prepared.rounds != 24 || len(exact.learnt) != 5 {
		t.Errorf("%d rounds about %d columns, want 24 about 5", prepared.rounds, len(exact.learnt))
	}
	answers := &learning{scaling: exact, magnitude: 1}
	for _, j := range []int{0, 1, 2, 6} {
		var centre, square float64
		for i := range r.y {
			v := r.y[i]
			if j < 6 {
				v = r.x[i][j]
			}
			answers.spreads = false
			centre += answers.answer(j, v) / float64(len(r.y))
			answers.spreads = true
			square += (answers.answer(j, v) + 1) * squareLimit / 2 / float64(len(r.y))
		}
		if math.Abs(centre) > 0.1 || math.Abs(square-normalSquare) > 0.15 {
			t.Errorf("column %d: the mean answer about the centre is %.3f and the mean square %.3f, want 0 and %g", j, centre, square, normalSquare)
		}
	}
	if exact.centre[3] != 0 || math.Abs(exact.spread[3]-evenSpread) > 1e-6 || exact.numbers[4] || exact.spread[4] != 0 {
		t.Errorf("a column without numbers has the centre %g and the spread %g, and a list the spread %g", exact.centre[3], exact.spread[3], exact.spread[4])
	}
	request.Mechanism, request.Trust, request.Budget, request.Rounds = "coco", plan.Shuffler, 8, 60
	request.L1, request.L2 = 5, 2
	private, err := request.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	noisy, _ := learnt(t, s, r, request.Dim, private, 2)
	for _, j := range []int{0, 1, 2, 6} { // a run of one seed
		if off, ratio := (noisy.centre[j]-exact.centre[j])/exact.spread[j], noisy.spread[j]/exact.spread[j]; math.Abs(off) > 0.3 || ratio < 0.7 || ratio > 1.4 {
			t.Errorf("column %d: with noise the centre is %.2f spreads off, and the spread %.2f times the one without", j, off, ratio)
		}
	}
}

// Rows are scaled by what is declared, what is not known is the centre, and nothing is further than mostSpreads.
func TestRowsAreScaled(t *testing.T) {
	s := someSchema(t, "age=0..100~40±10,level=0..10~5±2,sector=a|b", "y=0..10~4±2")
	scale := newScaling(s)
	if p, err := scale.prepare(&plan.Run{Affordable: 100}); err != nil || len(scale.learnt) != 0 || p != (preparation{}) {
		t.Errorf("columns %v are learnt, and nothing is left to learn: %v", scale.learnt, err)
	}
	x, y, _ := s.row([]string{"50", "n/a", "b", "10"})
	far, _, _ := s.row([]string{"0", "10", "a", "4"})
	got := scale.of(rows{[][]float64{x, far}, []float64{y, 0}})
	want := [][]float64{{1, 0, 0, 1}, {-mostSpreads, 2.5, 1, 0}}
	for i, row := range want {
		for j, v := range row {
			if math.Abs(got.x[i][j]-v) > 1e-12 {
				t.Errorf("row %d is %v, want %v", i, got.x[i], row)
			}
		}
	}
	if math.Abs(got.y[0]-3) > 1e-12 {
		t.Errorf("target %g, want 3 spreads", got.y[0])
	}
}

// Rounds are spent on columns where they are enough and their noise is small, and otherwise the program says why not.
func TestColumnsAreLeftAloneWhereThatTakesTooMuch(t *testing.T) {
	s := newScaling(someSchema(t, skewedColumns, skewedTarget))
	run := func(affordable int, noise float64) *plan.Run {
		return &plan.Run{Affordable: affordable, Clients: 4800, Cohort: 100, Sparsity: 2, Template: fl.Round{Scale: 1}, Schedule: &plan.Schedule{Noise: noise}}
	}
	for _, c := range []struct {
		run    *plan.Run
		rounds int
		want   string
	}{
		{run(120, 0.01), 12, "the first 12 of 120 rounds learn the centre and the spread of 5 columns"},
		{run(240, 0.01), 24, "the first 24 of 240 rounds"},
		{run(23, 0.01), 0, "takes 12 rounds, and the run has 23"},
		{run(120, 1), 0, "the standard error of a centre would be up to about 1.9 spreads, and at most 0.35 is useful"},
	} {
		// Sparse mechanisms cut the L1 norm at s·τ = 2: an answer about each of 5 columns has 0.4.
		if p, err := s.prepare(c.run); err != nil || p.rounds != c.rounds || math.Abs(p.magnitude-0.4) > 1e-12 || !strings.Contains(p.text, c.want) {
			t.Errorf("%d rounds of magnitude %g: %s, want %d of 0.4: %s", p.rounds, p.magnitude, p.text, c.rounds, c.want)
		}
	}
}

// The printed standard error of a centre is not below the error of repeated runs whose clients are drawn anew, and not above twice as much. Numbers lie evenly around
// their centre. With sparse reports the mechanism's noise alone is a twelfth of the error.
func TestTheStandardErrorOfACentreHolds(t *testing.T) {
	const repeats = 100
	s := someSchema(t, "a=-1..1,b=-1..1", "y=-1..1~0±0.25")
	even := math.Sqrt(3 * normalSquare) // the largest distance from the centre, in spreads
	for name, q := range map[string]plan.Request{
		"no noise":         {Mechanism: "none", Clients: 480, Cohort: 20},
		"sparse reports":   {Mechanism: "coco", Trust: plan.Nobody, Clients: 4800, Budget: 8, Sparsity: 1},
		"a noisy report":   {Mechanism: "coco", Trust: plan.Nobody, Clients: 4800, Budget: 4},
		"repeated clients": {Mechanism: "none", Clients: 80, Cohort: 40},
	} {
		q.Dim, q.Delta, q.L1, q.L2, q.Rounds, q.Force = 3, 1e-6, 1.5, 1, 48, true
		q.Smooth = &plan.Smooth{Curvature: 3, Norm: 1, Loss: 0.25}
		run, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		squares, printed := 0., 0.
		for repeat := range uint64(repeats) {
			rng := rand.New(rand.NewPCG(repeat, 9))
			var r rows
			for range run.Clients {
				r.add([]float64{even * (2*rng.Float64() - 1) / 4, rng.NormFloat64() / 4}, 0)
			}
			scale, prepared := learnt(t, s, r, q.Dim, run, repeat)
			squares += scale.centre[0] * scale.centre[0] * 16
			_, text, _ := strings.Cut(prepared.text, "A centre's standard error is up to about ")
			if _, err := fmt.Sscanf(text, "%g spreads", &printed); err != nil {
				t.Fatalf("%s: %v in %q", name, err, prepared.text)
			}
		}
		// A centre is about normal, as the mean of hundreds of answers. With the standard error σ the sum of its squares over σ² is a χ² variable with as many
		// degrees of freedom as repeats. σ is from half of the printed number to all of it. Four cases with two sides of 1e-7: false positives below 1e-6.
		law := distuv.ChiSquared{K: repeats}
		found := math.Sqrt(squares / repeats)
		most, least := printed*math.Sqrt(law.Quantile(1-1e-7)/repeats), printed/2*math.Sqrt(law.Quantile(1e-7)/repeats)
		if !(found >= least && found <= most) {
			t.Errorf("%s: centres are %.3f spreads off, want from %.3f to %.3f: the printed standard error is %g", name, found, least, most, printed)
		}
	}
}
