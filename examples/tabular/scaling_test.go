package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

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
func learnt(t *testing.T, s schema, r rows, dim int, run *plan.Run) (*scaling, preparation) {
	t.Helper()
	scale := newScaling(s)
	prepared := scale.prepare(run)
	rng := rand.New(rand.NewPCG(1, 2))
	columns := &learning{scaling: scale, rows: r, order: rng.Perm(len(r.y)), dim: dim, magnitude: prepared.magnitude}
	rounds, err := trainer.NewSimulation(trainer.SimulationConfig{
		Gradients: columns, Cohort: run.Cohort, Rand: rng, Describe: func(int) fl.Round { return run.Round("r", [32]byte{1}) },
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
	request := plan.Request{Mechanism: "none", Clients: len(r.y), Dim: s.width() + 1, Delta: 1e-6, L1: 1, L2: 1, Smooth: &plan.Smooth{Curvature: 5, Norm: 1}}
	bare, err := request.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exact, prepared := learnt(t, s, r, request.Dim, bare)
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
	noisy, _ := learnt(t, s, r, request.Dim, private)
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
	if len(scale.learnt) != 0 || scale.prepare(&plan.Run{Affordable: 100}) != (preparation{}) {
		t.Errorf("columns %v are learnt, and nothing is left to learn", scale.learnt)
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
		return &plan.Run{Affordable: affordable, Sparsity: 2, Template: fl.Round{Scale: 1}, Schedule: &plan.Schedule{Noise: noise}}
	}
	for _, c := range []struct {
		run    *plan.Run
		rounds int
		want   string
	}{
		{run(120, 0.01), 12, "the first 12 of 120 rounds learn the centre and the spread of 5 columns"},
		{run(240, 0.01), 24, "the first 24 of 240 rounds"},
		{run(23, 0.01), 0, "takes 12 rounds, and the run has 23"},
		{run(120, 1), 0, "the standard error of a centre would be 2.1 spreads, and at most 0.35 is useful"},
	} {
		// Sparse mechanisms cut the L1 norm at s·τ = 2: an answer about each of 5 columns has 0.4.
		if p := s.prepare(c.run); p.rounds != c.rounds || math.Abs(p.magnitude-0.4) > 1e-12 || !strings.Contains(p.text, c.want) {
			t.Errorf("%d rounds of magnitude %g: %s, want %d of 0.4: %s", p.rounds, p.magnitude, p.text, c.rounds, c.want)
		}
	}
}
