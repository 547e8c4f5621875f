package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/privunit"
)

// Rounds of softmax regression from zeros follow from the noise of the run: twice as many are taken where it falls by a tenth or more. Shares of
// the noise left by twice as many rounds are computed anew.
func TestRoundsOfSoftmaxArePlanned(t *testing.T) {
	if !*Long {
		t.Skip("takes seconds")
	}
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	x, labels := make([][]float64, 200), make([]int, 200)
	for i := range x {
		labels[i] = i % 3
		x[i] = make([]float64, 9)
		for j := range x[i] {
			x[i][j] = rng.NormFloat64()
		}
		x[i][labels[i]] += 3
	}
	examples, err := NewExamples(x, labels, 3)
	if err != nil {
		t.Fatal(err)
	}
	sample, err := examples.Sample()
	if err != nil {
		t.Fatal(err)
	}
	base := Request{Mechanism: privunit.Name, Trust: Shuffler, Delta: 1e-6, Dim: examples.Dim(), Examples: examples, Public: sample, Force: true}
	noise := func(q Request, rounds int) float64 {
		q.Rounds, q.Examples = rounds, nil
		run, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return run.Schedule.Considered[0].NoiseOfRun
	}
	planned := func(q Request) (rounds int) {
		for rounds = 30; rounds < 120 && noise(q, 2*rounds) <= 0.9*noise(q, rounds); {
			rounds *= 2
		}
		return rounds
	}
	type federation struct {
		clients int
		budget  float64
	}
	federations := []federation{{6000, 0.25}, {60_000, 0.25}, {60_000, 1}}
	seen := map[int]bool{}
	for _, c := range federations {
		q := base
		q.Clients, q.Budget = c.clients, c.budget
		run, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := planned(q)
		if run.Rounds != want || run.Expected == nil {
			t.Errorf("%+v: %d rounds, want %d; rehearsed: %v", c, run.Rounds, want, run.Expected)
		}
		var out strings.Builder
		if err := run.Explain(&out); err != nil || !strings.Contains(out.String(), fmt.Sprintf("%d rounds: of 30 to 120", want)) {
			t.Errorf("%v, %s", err, out.String())
		}
		seen[run.Rounds] = true
		// The table of trusts is about the same run.
		if c.budget < 1 {
			continue
		}
		if rows, err := q.Compare(t.Context(), Shuffler, Server); err != nil || rows[0].Mechanism == privunit.Name && rows[0].Reports != want || rows[1].Reports != 30 {
			t.Errorf("%+v: %v, rows %+v; want %d reports with the shuffler", c, err, rows, want)
		}
	}
	if len(seen) != len(federations) {
		t.Errorf("rounds %v, want 30, 60 and 120", seen)
	}
	for _, c := range []struct {
		zeroShot      float64
		clients, want int
	}{{0, 60_000, 60}, {0, 900, 36}, {.95, 60_000, 16}, {.95, 200, 8}} {
		q := base
		q.Trust, q.Clients, q.Budget, q.ZeroShot = Nobody, c.clients, 4, c.zeroShot
		run, err := q.Run(t.Context())
		if err != nil || run.Rounds != c.want || run.Cohort != c.clients/c.want {
			t.Errorf("%+v: %+v, %v; want %d rounds, in which each client takes part once", c, run, err, c.want)
		}
	}
	for name, change := range map[string]func(*Request){
		"a public model": func(q *Request) { q.ZeroShot = .95 },
		"a cohort":       func(q *Request) { q.Cohort = 2000 },
		"an ε":           func(q *Request) { q.Epsilon = 4 },
		"no examples":    func(q *Request) { q.Examples = nil },
	} {
		q := base
		q.Clients, q.Budget = 60_000, 1
		change(&q)
		if q.opensRounds() || q.rounds() != 30 {
			t.Errorf("with %s rounds are planned, or are %d", name, q.rounds())
		}
	}
}

// Sums with Gaussian noise have as many rounds as gradients of one record each need, whoever adds the noise, and all clients in each: that has the
// least noise. Sums in many messages have fewer of both.
func TestRoundsOfSums(t *testing.T) {
	for mechanism, want := range map[string][2]int{hdsum.SharesName: {30, 60_000}, hdsum.Name: {10, 6000}} {
		run, err := Request{Mechanism: mechanism, Clients: 60_000, Dim: 650, Budget: 1, Delta: 1e-6, L1: 1, L2: 1}.Run(t.Context())
		if err != nil || run.Rounds != want[0] || run.Cohort != want[1] {
			t.Errorf("%s: %+v, %v, want %d rounds of %d", mechanism, run, err, want[0], want[1])
		}
	}
}

// Steps around a public centre are as large for the mean of two servers as for any other mean with its noise: a smaller limit left them behind a
// shuffler, whose noise is larger.
func TestStepsOfSumsAreThoseOfTheirNoise(t *testing.T) {
	q := Request{Mechanism: hdsum.SharesName, Clients: 60_000, Dim: 650, Budget: 4, Delta: 1e-6, L1: 1, L2: 1, Clip: 1}
	rates := map[bool]float64{}
	for _, centred := range []bool{false, true} {
		q.Centred = centred
		run, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		noise := run.standardError(run.Opened)
		if want := stepsFor(centred).steps(noise, 1, run.Rounds).LearningRate; math.Abs(run.LearningRate-want) > 1e-9*want {
			t.Errorf("centred %t: the learning rate is %g, want %g", centred, run.LearningRate, want)
		}
		rates[centred] = run.LearningRate
	}
	if rates[true] < 2*rates[false] {
		t.Errorf("the learning rates are %v", rates)
	}
}

// The number of rounds follows from the noise of the mechanism that rehearsals choose, and not from coco's, which has the smaller error
// where gradients are clipped much.
func TestRoundsFollowFromTheChosenMechanism(t *testing.T) {
	if !*Long {
		t.Skip("rehearses three runs")
	}
	rng := rand.New(rand.NewChaCha8([32]byte{8}))
	x, labels := make([][]float64, 600), make([]int, 600)
	for i := range x {
		labels[i] = i % 10
		x[i] = make([]float64, 60)
		for j := range x[i] {
			x[i][j] = rng.NormFloat64()
		}
		x[i][labels[i]] += 3
		floats.Scale(1/floats.Norm(x[i], 2), x[i])
	}
	examples, err := NewExamples(x, labels, 10)
	if err != nil {
		t.Fatal(err)
	}
	q := Request{Mechanism: mechanisms.Auto, Trust: Shuffler, Clients: 20_000, Budget: 2, Delta: 1e-6, Dim: examples.Dim(), Examples: examples, Force: true}
	run, err := q.Run(t.Context())
	if err != nil || run.Mechanism != privunit.Name || run.Rounds != 120 || run.Expected == nil {
		t.Fatalf("%v, %+v; want 120 rounds of privunit", err, run)
	}
	// What was considered has 120 rounds, too, and each once.
	ways := map[string]int{}
	for i, a := range run.Schedule.Considered {
		ways[fmt.Sprint(a.Mechanism, a.Participations)]++
		if (a.Mechanism == privunit.Name && a.Participations == 120) != (i == 0) {
			t.Errorf("%d: %+v", i, a)
		}
	}
	if ways[fmt.Sprint(coco.Name, 120)] != 1 || len(ways) != len(run.Schedule.Considered) {
		t.Errorf("considered %v", ways)
	}
	if q.Public, err = examples.Sample(); err != nil {
		t.Fatal(err)
	}
	q.Examples, q.Rounds, q.Mechanism = nil, 30, mechanisms.Auto
	if run, err = q.Run(t.Context()); err != nil || run.Mechanism != coco.Name {
		t.Fatalf("%v, %+v; want coco without rehearsals", err, run)
	}
}
