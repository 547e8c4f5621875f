package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/privunit"
)

// Public examples that every run learns perfectly say nothing about mechanisms: the exact error decides.
func TestExamplesThatAreTooEasyDoNotChooseTheMechanism(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{21}))
	centres := make([][]float64, 3) // dense, for privunit
	for k := range centres {
		for range 40 {
			centres[k] = append(centres[k], rng.NormFloat64()/math.Sqrt(40))
		}
	}
	x, labels := make([][]float64, 600), make([]int, 600)
	for i := range x {
		labels[i] = i % 3
		x[i] = make([]float64, 40)
		for j := range x[i] {
			x[i][j] = centres[labels[i]][j] + 0.05*rng.NormFloat64()
		}
	}
	examples, err := NewExamples(x, labels, 3)
	if err != nil {
		t.Fatal(err)
	}
	for budget, want := range map[float64]string{0.1: privunit.Name, 2: coco.Name} {
		q := Request{
			Mechanism: mechanisms.Auto, Trust: Shuffler, Dim: examples.Dim(), Clients: 6000, Rounds: 1, Budget: budget, Delta: 1e-6, Examples: examples,
		}
		run, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if run.Expected.Accuracy != 1 {
			t.Fatalf("an expected accuracy of %v: the examples are not easy", run.Expected)
		}
		if run.Mechanism != want {
			t.Errorf("ε = %g: %s is planned, the least error has %s", budget, run.Mechanism, want)
		}
	}
}
