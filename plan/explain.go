package plan

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/hushgrad/hushgrad/fl"
)

// String states the mechanism, the rounds and how often clients take part.
func (run *Run) String() string {
	times := "once"
	if k := run.participations(); k > 1 {
		times = fmt.Sprintf("up to %d times", k)
	}
	return fmt.Sprintf("mechanism %s: %d rounds of %d clients, each client %s", run.Mechanism, run.Rounds, run.Cohort, times)
}

// Remarks returns what is worth knowing beforehand, one sentence each: the upload where a
// report holds many messages, and the mechanism's advice.
func (run *Run) Remarks() (remarks []string) {
	if c, ok := run.Opened.(fl.Coster); ok {
		cost, round := c.Cost(), c.Cost().Bytes*float64(run.Cohort)
		remarks = append(remarks, fmt.Sprintf("cost: about %.3g messages per client, sent as one multiset of values and counts in %.3g bytes, %.3g MB per round, %.3g MB in all",
			cost.Messages, cost.Bytes, round/1e6, round*float64(run.Rounds)/1e6))
	}
	if a, ok := run.Opened.(fl.Adviser); ok {
		for _, advice := range a.Advice() {
			remarks = append(remarks, "note: "+advice)
		}
	}
	return remarks
}

// PrintEnd writes what the run promises its clients, and whether the budget ended it.
func (run *Run) PrintEnd(ctx context.Context, w io.Writer) error {
	p, err := run.Promise(ctx)
	if err != nil {
		return err
	}
	if run.Affordable < run.Rounds {
		next, err := run.Spending.Promise(ctx, run.Affordable+1)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "stopped            the budget of central ε = %g is spent: another round would make it %.3f\n", run.Budget, *next.Central)
	}
	return p.Print(w)
}

// Explain writes what was compared, what was chosen and why.
func (run *Run) Explain(w io.Writer) error {
	steps := fmt.Sprintf("learning rate %.3g, momentum %g, models averaged with decay %g", run.LearningRate, run.Momentum, run.Averaging)
	s := run.Schedule
	if s == nil {
		_, err := fmt.Fprintf(w, "plan: %s\n\n", steps)
		return err
	}
	fmt.Fprintf(w, `plan: the mechanism and the way to take part with the least noise in the mean of all rounds.
Exact errors per coordinate, in units of the gradient; composed central ε at δ = %g:

`, run.Spending.delta)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "  mechanism\treports of a client\tcohort\tlocal ε of each\tcentral ε of all\terror of a round\terror of the run\n")
	for _, a := range s.Considered {
		fmt.Fprintf(table, "  %s\t%d\t%d\t%.3f\t%.3f\t%.3g\t%.3g\n",
			a.Mechanism, a.Participations, a.Cohort, a.EpsilonLocal, a.EpsilonCentral, a.Error*s.Scale, a.NoiseOfRun)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, `
s = %d entries and τ = %.3g: from the norms of public gradients, so that the L1 norm fits and most entries do.
%s: as large as lets the noise of all rounds pass.
Nothing was looked up in the clients' data.

`, s.Sparsity, s.Scale, steps)
	return err
}
