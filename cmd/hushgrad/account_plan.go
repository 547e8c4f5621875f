package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
)

// planned is the answer of account plan.
type planned struct {
	Feasible bool `json:"feasible"`
	// ClientsNeeded is the number of clients that makes an infeasible plan feasible, 0 if
	// there is none.
	ClientsNeeded int         `json:"clients_needed,omitempty"`
	Best          plan.Plan   `json:"best"`
	Plans         []plan.Plan `json:"plans"`
	demand        plan.Demand
	maxError      float64
}

func planQuestion(ctx context.Context, args []string, std command.Streams) error {
	f, asJSON, plot := newQuestion("plan", `Finds the mechanism and the parameters with the smallest exact error for a central
budget, or the number of clients that an error takes. An error is the root mean square
per coordinate of one round's mean, in units of τ. A client's coordinates are at most 1
in these units. -plot draws the errors against the number of clients.`, std.Err)
	var d plan.Demand
	f.IntVar(&d.Dim, "dim", 7850, "coordinates of a gradient, d")
	f.IntVar(&d.Sparsity, "sparsity", 40, "entries of a ternary vector, s")
	f.IntVar(&d.Clients, "clients", 60000, "number of clients")
	f.IntVar(&d.Rounds, "rounds", 30, "number of rounds")
	f.IntVar(&d.Participations, "participations", 1, "rounds in which a client takes part")
	f.Float64Var(&d.Epsilon, "epsilon", 1, "central ε of a client for the whole run")
	f.Float64Var(&d.Delta, "delta", 1e-6, "δ")
	maxError := f.Float64("error", 0, "error that is acceptable; 0: any")
	if err := command.ParseOnly(f, args); err != nil {
		return err
	}
	if !(*maxError >= 0) || math.IsInf(*maxError, 1) {
		return fl.Invalid("-error", *maxError, "must be finite and at least 0")
	}
	bar := progress.New(std.Err)
	bar.Describe("composing losses")
	bar.Grow(1)
	defer bar.Close()
	plans, err := plan.Plans(ctx, d)
	if err != nil {
		return err
	}
	answer := planned{Best: plans[0], Plans: plans, demand: d, maxError: *maxError}
	answer.Feasible = *maxError == 0 || plans[0].Error <= *maxError
	if !answer.Feasible {
		answer.ClientsNeeded, err = d.ClientsFor(ctx, *maxError)
		if err != nil && !errors.Is(err, plan.ErrInfeasible) {
			return err
		}
	}
	if *plot != "" {
		figure, err := planCurve(ctx, d)
		if err != nil {
			return err
		}
		if err := writePlot(*plot, figure); err != nil {
			return err
		}
	}
	bar.Close()
	if *asJSON {
		return printJSON(std.Out, answer)
	}
	answer.print(std.Out)
	return nil
}

func (p planned) print(w io.Writer) {
	fmt.Fprintf(w, "%-12s %9s %7s %9s %9s %9s\n", "mechanism", "local ε", "slots", "cohort", "central ε", "error")
	for _, c := range p.Plans {
		fmt.Fprintf(w, "%-12s %9.4f %7d %9d %9.4f %9.3g\n", c.Mechanism, c.EpsilonLocal, c.Slots, c.Cohort, c.EpsilonCentral, c.Error)
	}
	switch {
	case p.Feasible:
		fmt.Fprintf(w, "\nuse %s with ε = %.4g per report\n", p.Best.Mechanism, p.Best.EpsilonLocal)
	case p.ClientsNeeded > 0:
		fmt.Fprintf(w, "\nnot feasible: an error of %g needs n ≥ %d clients, within 1 %%\n", p.maxError, p.ClientsNeeded)
	default:
		fmt.Fprintf(w, "\nnot feasible: an error of %g needs more than %d clients\n", p.maxError, fl.MaxReports)
	}
}

// planCurve draws the error of each mechanism against the number of clients.
func planCurve(ctx context.Context, d plan.Demand) (*figure.Figure, error) {
	series := map[string]*figure.Series{}
	var order []string
	for step := -4; step <= 8; step++ {
		at := d
		at.Clients = int(float64(d.Clients) * math.Pow(2, float64(step)/2))
		if at.Clients > fl.MaxReports || at.Clients*at.Participations/at.Rounds < 2 {
			continue
		}
		plans, err := plan.Plans(ctx, at)
		if err != nil {
			return nil, err
		}
		for _, p := range plans {
			s, ok := series[p.Mechanism]
			if !ok {
				s = &figure.Series{Name: p.Mechanism, Style: figure.LinePoints}
				series[p.Mechanism] = s
				order = append(order, p.Mechanism)
			}
			s.X, s.Y = append(s.X, float64(at.Clients)), append(s.Y, p.Error)
		}
	}
	panel := figure.Panel{
		Title: fmt.Sprintf("central ε = %g, δ = %g", d.Epsilon, d.Delta), XLabel: "clients", YLabel: "error per coordinate, units of τ", LogX: true, LogY: true,
	}
	for _, name := range order {
		panel.Series = append(panel.Series, *series[name])
	}
	return &figure.Figure{Panels: []figure.Panel{panel}}, nil
}
