package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/compose"
)

func accountantOf(t *testing.T, c config, dim int) *accountant {
	t.Helper()
	r, err := fl.Complete(c.round(0, dim))
	if err != nil {
		t.Fatal(err)
	}
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newAccountant(c, m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestParticipations(t *testing.T) {
	c := config{clients: 900, cohort: 300}
	for rounds, want := range map[int]int{1: 1, 3: 1, 4: 2, 6: 2, 7: 3} {
		if got := c.participations(rounds); got != want {
			t.Errorf("%d rounds: %d participations, want %d", rounds, got, want)
		}
	}
}

// Several participations cost more than one and less than as many times one, and
// for sumdp what the optimal composition says.
func TestParticipationsCompose(t *testing.T) {
	for _, mechanism := range []string{"coco", "collision", "signsketch", "sumdp"} {
		c := defaults(mechanism)
		c.clients, c.cohort, c.rounds, c.epsilon, c.clip, c.sparsity = 3000, 1000, 12, 1, 20, 40
		a := accountantOf(t, c, 100)
		var previous float64
		for _, rounds := range []int{3, 6, 9, 12} {
			e, err := a.after(c, rounds)
			if err != nil || e.central == nil || e.participations != rounds/3 {
				t.Fatalf("%s, %d rounds: %+v, %v", mechanism, rounds, e, err)
			}
			if !(*e.central > previous) {
				t.Errorf("%s, %d rounds: ε = %g after %g", mechanism, rounds, *e.central, previous)
			}
			previous = *e.central
		}
		one, err := a.once()
		if err != nil || !(previous < 4*one) {
			t.Errorf("%s: 4 participations cost %g, one %g, %v", mechanism, previous, one, err)
		}
		if mechanism == "sumdp" {
			want, err := compose.Homogeneous{Epsilon: 1, Delta: c.roundDelta(), Count: 4}.EpsilonAt(c.delta)
			if err != nil || previous < want*(1-1e-6) || previous > want*1.001 {
				t.Errorf("sumdp: 4 participations cost %g, optimal composition says %g, %v", previous, want, err)
			}
		}
	}
	c := defaults("none")
	c.cohort, c.clip, c.sparsity = 2000, 1, 1
	if e, err := accountantOf(t, c, 100).after(c, 5); err != nil || e.central != nil {
		t.Errorf("no privacy: %+v, %v", e, err)
	}
}

// A run stops before the round that its budget does not allow, and does not begin
// when one round is too much.
func TestTheBudgetEndsTheRun(t *testing.T) {
	c, data := small(t, "coco")
	c.rounds = 9 // three times each
	a := accountantOf(t, c, 1970)
	two, err := a.after(c, 6)
	if err != nil {
		t.Fatal(err)
	}
	c.budget = *two.central * 1.0001
	var out strings.Builder
	if err := train(t.Context(), c, data, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "\n    6  ") || strings.Contains(text, "\n    7  ") ||
		!strings.Contains(text, "is spent: another round would make it") || !strings.Contains(text, "composed over the 2 rounds") {
		t.Errorf("a budget for two participations:\n%s", text)
	}
	c.budget = 1e-6
	var p *fl.ParamError
	if err := train(t.Context(), c, data, io.Discard, io.Discard); !errors.As(err, &p) || p.Param != "-budget" {
		t.Errorf("a budget below one round: %v, want a ParamError for -budget", err)
	}
}
