package plan

import (
	"errors"
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
	for budget, want := range map[float64]string{0.1: privunit.Name, 1: coco.Name} {
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

// Noise at entries may hide what coco's run is to learn where privunit, whose exact error is hardly smaller, learns it.
func TestARunThatIsTooNoisyForOneMechanismIsPlannedWithTheOther(t *testing.T) {
	if !*Long {
		t.Skip("takes a second or two")
	}
	rng := rand.New(rand.NewChaCha8([32]byte{0}))
	centres := make([][]float64, 10)
	for k := range centres {
		for range 64 {
			centres[k] = append(centres[k], max(0, rng.NormFloat64()-.2))
		}
	}
	x, labels := make([][]float64, 300), make([]int, 300)
	for i := range x {
		labels[i] = i % 10
		for j := range 64 {
			x[i] = append(x[i], max(0, centres[labels[i]][j]*.6+.5*rng.NormFloat64()))
		}
	}
	examples, err := NewExamples(x, labels, 10)
	if err != nil {
		t.Fatal(err)
	}
	q := Request{
		Mechanism: mechanisms.Auto, Trust: Nobody, Dim: examples.Dim(), Clients: 200, Cohort: 200, Rounds: 12, Epsilon: 3, Delta: 1e-6,
		PerClient: 5, Examples: examples,
	}
	if run, err := q.run(t.Context()); !errors.Is(err, ErrNoise) || run.Mechanism != coco.Name {
		t.Fatalf("the least error has %v, error %v: want coco, and ErrNoise", run, err)
	}
	run, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if run.Mechanism != privunit.Name || run.Expected.Accuracy < 0.6 {
		t.Errorf("%s is planned, with an expected accuracy of %v", run.Mechanism, run.Expected)
	}
	q.Epsilon = 0.5 // too noisy for both
	if run, err := q.Run(t.Context()); !errors.Is(err, ErrNoise) {
		t.Errorf("%v is planned, error %v: want ErrNoise", run, err)
	}
}
