package plan

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/privunit"
)

// Public examples that every run learns perfectly say nothing about mechanisms: the exact error decides.
func TestExamplesThatAreTooEasyDoNotChooseTheMechanism(t *testing.T) {
	for held, want := range map[int]string{40: privunit.Name, 2: coco.Name} {
		rng := rand.New(rand.NewChaCha8([32]byte{21}))
		centres := make([][]float64, 3) // of features that most classes lack, for coco, or dense ones, for privunit
		for k := range centres {
			centres[k] = make([]float64, 40)
			for j := range held {
				centres[k][(k*held+j)%40] = rng.NormFloat64() / math.Sqrt(float64(held))
			}
		}
		x, labels := make([][]float64, 600), make([]int, 600)
		for i := range x {
			labels[i] = i % 3
			x[i] = slices.Clone(centres[labels[i]])
			for j, v := range x[i] {
				if v != 0 {
					x[i][j] += 0.05 * rng.NormFloat64()
				}
			}
		}
		examples, err := NewExamples(x, labels, 3)
		if err != nil {
			t.Fatal(err)
		}
		q := Request{
			Mechanism: mechanisms.Auto, Trust: Shuffler, Dim: examples.Dim(), Clients: 6000, Rounds: 1, Budget: 1, Delta: 1e-6, Examples: examples,
		}
		run, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if run.Expected.Accuracy != 1 {
			t.Fatalf("an expected accuracy of %v: the examples are not easy", run.Expected)
		}
		if run.Mechanism != want {
			t.Errorf("%d features: %s is planned, the least error has %s", held, run.Mechanism, want)
		}
	}
}

// Where a clip cuts coordinates, later models learn less than the first model's error says. So coco is not taken where privunit's
// error is a little smaller.
func TestTheLeastErrorDecidesHoweverNear(t *testing.T) {
	all := []Alternative{{Plan: Plan{Mechanism: coco.Name}, square: 1.01}, {Plan: Plan{Mechanism: privunit.Name}, square: 1}}
	if order(all); all[0].Mechanism != privunit.Name {
		t.Errorf("%s is planned, whose squared error is larger by a hundredth", all[0].Mechanism)
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
