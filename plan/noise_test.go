package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/rounded"
)

// Two servers have at most 1.45 times the noise of one trusted server that adds the analytic Gaussian noise to the sum of all 30 rounds of a
// run, at one (ε, δ) of the whole run: √2 times and what rounding needs. Measured over many coordinates of many rounds. The standard
// deviation of n normal variables has a relative error of 1/√(2n): 6 of these are .010, .008 and .004 here, so that a test that should
// pass fails once in 10^8.
func TestAWholeRunHasNearlyTheNoiseOfATrustedServer(t *testing.T) {
	if !*Long {
		t.Skip("takes a second: go test -long")
	}
	const clients, run, delta = 4, 30, 1e-6
	for _, c := range []struct{ dim, rounds int }{{650, 300}, {10_000, 30}, {1_000_000, 1}} {
		for _, budget := range []float64{1, 8} {
			planned, err := Request{
				Mechanism: "auto", Trust: TwoServers, Dim: c.dim, Clients: clients, Cohort: clients, Rounds: run, Budget: budget, Delta: delta, L1: 1, L2: 1,
			}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if planned.Affordable != run {
				t.Fatalf("%d of %d rounds", planned.Affordable, run)
			}
			rng, grad, squares := rand.New(rand.NewChaCha8([32]byte{5})), make([]float64, c.dim), 0.
			for i := range c.rounds {
				for _, v := range meanOfRound(t, planned, i, slices.Repeat([][]float64{grad}, clients), rng) {
					squares += v * v
				}
			}
			trusted, err := rounded.Sigma(budget, delta, 2*planned.Template.Scale*math.Sqrt(run))
			if err != nil {
				t.Fatal(err)
			}
			if ratio := math.Sqrt(squares/float64(c.rounds*c.dim)) * clients / trusted; !(ratio > 1.39 && ratio <= 1.45) {
				t.Errorf("dim %d, ε = %g: %.4f times a trusted server's noise", c.dim, budget, ratio)
			}
		}
	}
}

// meanOfRound is the estimate of a round's mean: round i of a run, with a report of each row.
func meanOfRound(t *testing.T, run *Run, i int, rows [][]float64, rng *rand.Rand) []float64 {
	t.Helper()
	m, err := fl.Open(run.Round("r", [32]byte{1, byte(i), byte(i >> 8)}))
	if err != nil {
		t.Fatal(err)
	}
	all := m.NewAggregator()
	for _, row := range rows {
		report, err := m.Encode(nil, row, rng)
		if err == nil {
			err = all.Add(report)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	e, err := all.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	return e.Mean().Value
}

// The noise of a sparse run has what ternary vectors are off the clipped gradients, which is nearly all of it at a large ε. Measured: the mean of 300·8
// squared errors, of sums of 400 reports each and so nearly normal, has a relative standard deviation of √(2/2400) = .029. Six of them are .17, so that a
// test that should pass fails once in 10^8.
func TestSparseNoiseIsThatOfTernaryVectors(t *testing.T) {
	const clients, dim, rounds = 400, 8, 300
	rng := rand.New(rand.NewChaCha8([32]byte{8}))
	rows := make([][]float64, clients)
	for i := range rows {
		rows[i] = make([]float64, dim)
		for j := range rows[i] {
			rows[i][j] = 0.2 + 0.5*rng.NormFloat64()
		}
	}
	sample, err := NewSample(rows)
	if err != nil {
		t.Fatal(err)
	}
	run, err := Request{
		Mechanism: "coco", Trust: Nobody, Dim: dim, Clients: clients, Cohort: clients, Rounds: 1, Budget: 10, Delta: 1e-6, Public: sample,
		Smooth: &Smooth{Curvature: 1, Norm: 1, Loss: 1, Chances: true}, // which takes a long clip
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mean := make([]float64, dim)
	for _, row := range rows {
		cut := slices.Clone(row)
		run.clipping().apply(cut)
		floats.AddScaled(mean, 1./clients, cut)
	}
	squares := 0.
	for i := range rounds {
		for j, v := range meanOfRound(t, run, i, rows, rng) {
			squares += (v - mean[j]) * (v - mean[j])
		}
	}
	noise := run.Schedule.Considered[0].NoiseOfRun
	if ratio := squares / (rounds * dim) / (noise * noise); !(math.Abs(ratio-1) < 0.17) {
		t.Errorf("the squared error is %.3f times the planned one", ratio)
	}
}
