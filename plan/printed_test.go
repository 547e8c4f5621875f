package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// What a plan prints holds for what it prints: with the printed local ε, slots and cohort, which a user
// types into another call, the central ε is at most the printed one, and within the budget.
func TestPrintedPlansKeepTheirPromise(t *testing.T) {
	rows := 0
	runs := []Training{
		{Dim: 300, Clients: 40, Rounds: 3, Epsilon: 1},
	}
	if *Long {
		runs = append(runs,
			Training{Dim: 1970, Clients: 600, Rounds: 3, Epsilon: 1. / 3},
			Training{Dim: 1970, Clients: 60_000, Rounds: 3, Epsilon: 1. / 3},
			Training{Dim: 1970, Clients: 60_000, Rounds: 30, Epsilon: 1, Participations: 1},
			Training{Dim: 1970, Clients: 60_000, Rounds: 30, Epsilon: 1},
			Training{Dim: 1970, Clients: 60_000, Rounds: 30, Epsilon: 0.1},
			Training{Dim: 7850, Clients: 3000, Rounds: 7, Epsilon: 0.5},
			Training{Dim: 1970, Clients: 60_000, Rounds: 30, Epsilon: 1, EpsilonLocal: 2.3456})
	}
	for _, q := range runs {
		q.Delta, q.L1, q.L2 = 1e-6, 30, 1
		s, err := q.Schedule(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		run := Run{Schedule: s, Budget: q.Epsilon, Spending: &Spending{delta: q.Delta}}
		var text strings.Builder
		if err := run.Explain(&text); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text.String()) {
			var mechanism string
			var slots, sparsity, reports, cohort int
			var local, central, round, all float64
			n, _ := fmt.Sscan(line, &mechanism, &slots, &sparsity, &reports, &cohort, &local, &central, &round, &all)
			i := slices.IndexFunc(designs(), func(c design) bool { return c.Name() == mechanism })
			if n != 9 || i < 0 {
				continue
			}
			rows++
			p := Demand{Dim: q.Dim, Sparsity: sparsity}.point()
			p.Slots, p.Epsilon = slots, local
			_, m, err := fl.Complete(fl.Round{
				ID: "r", Mechanism: mechanism, Dim: q.Dim, Scale: 1, Epsilon: local, Relation: fl.ReplaceOne,
				MinReports: cohort, PublicSeed: [32]byte{1}, Params: designs()[i].Params(p),
			})
			if err != nil {
				t.Fatal(err)
			}
			spending, err := NewSpending(m, q.Clients, cohort, q.Delta)
			if err != nil {
				t.Fatal(err)
			}
			got, err := spending.Promise(t.Context(), q.Rounds)
			if err != nil {
				t.Fatal(err)
			}
			if got.Participations != reports || *got.Central > central || *got.Central > q.Epsilon {
				t.Errorf("budget %g: printed %s: that local ε gives a central ε of %v for %d reports",
					q.Epsilon, strings.TrimSpace(line), *got.Central, got.Participations)
			}
		}
	}
	if rows < 5*len(runs) {
		t.Errorf("%d rows were read", rows)
	}
}
