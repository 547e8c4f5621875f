package plan

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/privunit"
)

// letterlike is a request about many classes and a public model that tells them apart by little.
func letterlike(t *testing.T, clients int, budget float64) Request {
	t.Helper()
	const classes = 26
	rng := rand.New(rand.NewChaCha8([32]byte{5}))
	x, labels := make([][]float64, 2000), make([]int, 2000)
	for i := range x {
		labels[i] = rng.IntN(classes)
		for j := range classes {
			v := .5 * rng.NormFloat64()
			if j == labels[i] {
				v += 2
			}
			x[i] = append(x[i], v)
		}
	}
	examples, err := NewExamples(x, labels, classes)
	if err != nil {
		t.Fatal(err)
	}
	first := make([]float64, examples.Dim())
	for j := range classes {
		first[j*classes+j] = 2.5
	}
	sample, err := examples.Sample()
	if err != nil {
		t.Fatal(err)
	}
	return Request{
		Mechanism: privunit.Name, Trust: Nobody, Clients: clients, Rounds: 8, Budget: budget, Delta: 1e-6, Dim: examples.Dim(), Examples: examples, Public: sample,
		Centred: true, First: first, ZeroShot: .95,
	}
}

// A run that would lose what a public model knows of many classes starts from the whole of it. What it ends at with ten classes is not said of others.
func TestWeakPublicModelsAreTakenWhole(t *testing.T) {
	if !*Long {
		t.Skip("takes a second: go test -long")
	}
	q := letterlike(t, 6000, 4)
	run, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if run.Outlook.Factor != 1 || run.Expected.Accuracy <= run.Expected.Before-.02 || run.Outlook.Accuracy != 0 {
		t.Errorf("%g times the public model, from %v, and %g with ten classes", run.Outlook.Factor, run.Expected, run.Outlook.Accuracy)
	}
	easy := letterlike(t, 1_000_000, 8)
	if run, err = easy.Run(t.Context()); err != nil || run.Outlook.Factor != warmLeast || run.Expected.Useless() {
		t.Errorf("with little noise: %+v, %v, %v", run.Outlook, run.Expected, err)
	}
}

// A run that is expected to end below the public model of many classes is refused.
func TestWarmStartsOfManyClassesAreRefusedByTheirRehearsal(t *testing.T) {
	if !*Long {
		t.Skip("takes a second: go test -long")
	}
	q := letterlike(t, 6000, 2)
	q.Rounds = 16
	run, err := q.Run(t.Context())
	if !errors.Is(err, ErrNoise) || run.Outlook.Votes >= hopelessVotes || !run.Expected.Useless() {
		t.Errorf("%+v, %v, %v: want ErrNoise, and few votes", run.Outlook, run.Expected, err)
	}
}

// Gradients with many coordinates are rehearsed with fewer examples, as the noise grows with the number of coordinates.
func TestLongGradientsAreRehearsedWithFewerExamples(t *testing.T) {
	for dim, want := range map[int][2]int{10: {4096, 1024}, 2048: {4096, 1024}, 4096: {2048, 1024}, 65000: {256, 256}} {
		if got := [2]int{lookedAt(dim, false), lookedAt(dim, true)}; got != want {
			t.Errorf("%d coordinates: %d examples, and quickly, want %d", dim, got, want)
		}
	}
}
