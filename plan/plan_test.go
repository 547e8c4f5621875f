package plan

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/sparse"
)

var demand = Demand{Dim: 2000, Sparsity: 16, Clients: 40000, Rounds: 20, Participations: 1, Epsilon: 1, Delta: 1e-6}

// A plan's numbers are those of the mechanism it names, and its local ε is nearly
// the largest within the budget.
func TestPlansSpendTheBudget(t *testing.T) {
	plans, err := Plans(demand)
	if err != nil || len(plans) != 3 {
		t.Fatalf("%+v, %v", plans, err)
	}
	for i, p := range plans {
		if p.Cohort != 2000 || p.EpsilonCentral > 1 || p.EpsilonCentral < 0.999 || i > 0 && p.Error < plans[i-1].Error {
			t.Errorf("plan %d: %+v", i, p)
		}
		if p.Mechanism != coco.Name {
			continue
		}
		point := sparse.Point{Dim: 2000, Sparsity: 16, Epsilon: p.EpsilonLocal, Slots: p.Slots, Hash: "gf2"}
		mse, err := coco.MSE(point)
		if want := math.Sqrt(mse / 2000 / 2000); err != nil || math.Abs(p.Error-want) > 1e-12 {
			t.Errorf("coco: error %g, want %g, %v", p.Error, want, err)
		}
		b, err := privacy.NewBlanket(p.EpsilonLocal, 16, p.Slots)
		if err != nil {
			t.Fatal(err)
		}
		if central, err := b.Epsilon(2000, 1e-6); err != nil || central != p.EpsilonCentral {
			t.Errorf("coco: central ε %g, want %g, %v", p.EpsilonCentral, central, err)
		}
	}
}

// Clients who take part in every round have more reports to spread the budget over:
// the error of a round falls, and the composed ε stays within the budget.
func TestParticipationLowersTheError(t *testing.T) {
	once, err := Plans(demand)
	if err != nil {
		t.Fatal(err)
	}
	d := demand
	d.Participations = 4
	often, err := Plans(d)
	if err != nil {
		t.Fatal(err)
	}
	best := often[0]
	if best.Error >= once[0].Error || best.Cohort != 8000 || best.EpsilonCentral > 1 || best.EpsilonCentral < 0.9 {
		t.Errorf("four participations: %+v, one: %+v", best, once[0])
	}
}

func TestDemandsAreChecked(t *testing.T) {
	for param, mutate := range map[string]func(*Demand){
		"dim":            func(d *Demand) { d.Dim = 0 },
		"sparsity":       func(d *Demand) { d.Sparsity = 2001 },
		"clients":        func(d *Demand) { d.Clients = 30 },
		"rounds":         func(d *Demand) { d.Rounds = 0 },
		"participations": func(d *Demand) { d.Participations = 21 },
		"epsilon":        func(d *Demand) { d.Epsilon = math.NaN() },
		"delta":          func(d *Demand) { d.Delta = 1 },
	} {
		d := demand
		mutate(&d)
		_, err := Plans(d)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: error %v", param, err)
		}
	}
	if _, err := demand.ClientsFor(0); err == nil {
		t.Error("an error of 0: want an error")
	}
	if _, err := demand.ClientsFor(1e-12); !errors.Is(err, ErrInfeasible) {
		t.Errorf("an impossible error: %v, want ErrInfeasible", err)
	}
}

// ClientsFor is the smallest number within 1 %.
func TestClientsForIsTight(t *testing.T) {
	n, err := demand.ClientsFor(0.05)
	if err != nil {
		t.Fatal(err)
	}
	for clients, want := range map[int]bool{n: true, n * 98 / 100: false} {
		d := demand
		d.Clients = clients
		plans, err := Plans(d)
		if err != nil || (plans[0].Error <= 0.05) != want {
			t.Errorf("%d clients: error %g, %v; enough: %t", clients, plans[0].Error, err, want)
		}
	}
}
