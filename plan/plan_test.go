package plan

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/sparse"
)

var demand = Demand{Dim: 2000, Sparsity: 16, Clients: 40000, Rounds: 20, Participations: 1, Epsilon: 1, Delta: 1e-6}

// A plan's numbers are the numbers of the mechanism it names, and its local ε is nearly
// the largest within the budget.
func TestPlansSpendTheBudget(t *testing.T) {
	plans, err := Plans(t.Context(), demand)
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
		mse, err := coco.Scheme.MSE(point)
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
	once, err := Plans(t.Context(), demand)
	if err != nil {
		t.Fatal(err)
	}
	d := demand
	d.Participations = 4
	often, err := Plans(t.Context(), d)
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
		_, err := Plans(t.Context(), d)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: error %v", param, err)
		}
	}
	if _, err := demand.ClientsFor(t.Context(), 0); err == nil {
		t.Error("an error of 0: want an error")
	}
	many := demand
	many.Rounds = fl.MaxReports / 8 // of two clients at least, so that few numbers are tried
	if _, err := many.ClientsFor(t.Context(), 1e-12); !errors.Is(err, ErrInfeasible) {
		t.Errorf("an impossible error: %v, want ErrInfeasible", err)
	}
}

// ClientsFor is the smallest number within 1 %.
func TestClientsForIsTight(t *testing.T) {
	n, err := demand.ClientsFor(t.Context(), 0.05)
	if err != nil {
		t.Fatal(err)
	}
	for clients, want := range map[int]bool{n: true, n * 98 / 100: false} {
		d := demand
		d.Clients = clients
		plans, err := Plans(t.Context(), d)
		if err != nil || (plans[0].Error <= 0.05) != want {
			t.Errorf("%d clients: error %g, %v; enough: %t", clients, plans[0].Error, err, want)
		}
	}
}

// Clients who take part in every round are counted too, from the smallest number that can be.
func TestClientsForCountsThoseWhoComeOften(t *testing.T) {
	if !*Long {
		t.Skip("takes a second: go test -long")
	}
	d := Demand{Dim: 200, Sparsity: 8, Rounds: 2, Participations: 2, Epsilon: 1, Delta: 1e-6}
	n, err := d.ClientsFor(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for clients, want := range map[int]bool{n: true, n * 98 / 100: false} {
		d.Clients = clients
		plans, err := Plans(t.Context(), d)
		if err != nil || (plans[0].Error <= 2) != want {
			t.Errorf("%d clients: %+v, %v; enough: %t", clients, plans, err, want)
		}
	}
}

// big is a question whose answer takes many seconds.
var big = Demand{Dim: 7850, Sparsity: 40, Clients: 1_000_000, Rounds: 300, Participations: 100, Epsilon: 1, Delta: 1e-9}

// fuse is a context that is cancelled when it has been asked a number of times.
type fuse struct {
	context.Context
	left atomic.Int64
}

func (f *fuse) Err() error {
	if f.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// An interrupted question ends with the error of the context: at once whenever it comes, and
// soon by the clock. Two seconds are ten times what the longest step takes.
func TestPlanningEndsWithItsContext(t *testing.T) {
	next := func(asked int64) int64 { return asked + 1 + asked }
	if *Long {
		next = func(asked int64) int64 { return asked + 1 }
	}
	for asked := int64(0); ; asked = next(asked) { // no answer leaves out what there was no time for
		ctx := &fuse{Context: t.Context()}
		ctx.left.Store(asked)
		plans, err := Plans(ctx, demand)
		if err == nil && len(plans) == 3 && asked > 10 {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("Plans, after %d questions: %d plans, error %v, want 3 or Canceled", asked, len(plans), err)
		}
	}
	run := training
	run.Clients, run.Rounds, run.Delta = big.Clients, big.Rounds, big.Delta
	for name, ask := range map[string]func(ctx context.Context) error{
		"Plans":      func(ctx context.Context) error { _, err := Plans(ctx, big); return err },
		"ClientsFor": func(ctx context.Context) error { _, err := big.ClientsFor(ctx, 1e-4); return err },
		"Schedule":   func(ctx context.Context) error { _, err := run.Schedule(ctx); return err },
		"Run": func(ctx context.Context) error {
			_, err := Request{
				Mechanism: mechanisms.Auto, Trust: Shuffler, Dim: run.Dim, Clients: run.Clients, Rounds: run.Rounds, Delta: run.Delta, L1: run.L1, L2: run.L2,
			}.Run(ctx)
			return err
		},
	} {
		for _, asked := range []int64{0, 1, 5, 100} {
			ctx := &fuse{Context: t.Context()}
			ctx.left.Store(asked)
			if err := ask(ctx); !errors.Is(err, context.Canceled) || strings.Count(err.Error(), "plan: ") != 1 {
				t.Errorf("%s, after %d questions: error %v, want Canceled", name, asked, err)
			}
		}
		const deadline = 5 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		began := time.Now()
		err := ask(ctx)
		cancel()
		if late := time.Since(began) - deadline; err == nil && late <= 0 {
			t.Logf("%s: planned before the deadline", name)
		} else if !errors.Is(err, context.DeadlineExceeded) || late > 2*time.Second {
			t.Errorf("%s: error %v %v after the deadline, want DeadlineExceeded at once", name, err, late)
		} else {
			t.Logf("%s: %v late", name, late)
		}
	}
}
