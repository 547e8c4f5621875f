package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/privunit"
)

// Rounds of softmax regression from zeros follow from the noise of the run: twice as many are taken where it falls by a tenth or more. Shares of the
// noise left by twice as many rounds are computed anew.
func TestRoundsOfSoftmaxArePlanned(t *testing.T) {
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
	seen := map[int]bool{}
	for _, c := range []struct {
		clients int
		budget  float64
	}{{6000, 0.25}, {60_000, 0.25}, {60_000, 1}} {
		q := base
		q.Clients, q.Budget = c.clients, c.budget
		run, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := 30
		for want < 120 && noise(q, 2*want) <= 0.9*noise(q, want) {
			want *= 2
		}
		if run.Rounds != want || run.Expected == nil {
			t.Errorf("%+v: %d rounds, want %d; rehearsed: %v", c, run.Rounds, want, run.Expected)
		}
		var out strings.Builder
		if err := run.Explain(&out); err != nil || !strings.Contains(out.String(), fmt.Sprintf("%d rounds: of 30 to 120", want)) {
			t.Errorf("%v, %s", err, out.String())
		}
		seen[run.Rounds] = true
	}
	if len(seen) != 3 {
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
