package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/hushgrad/hushgrad/plan"
)

// explanation says what was planned and why. There is no schedule where nothing was asked
// of the planner.
func (c config) explanation(w io.Writer, s *plan.Schedule) error {
	steps := fmt.Sprintf("learning rate %.3g, momentum %g, models averaged with decay %g", c.lr, c.momentum, c.averaging)
	if s == nil {
		_, err := fmt.Fprintf(w, "plan: %s\n\n", steps)
		return err
	}
	fmt.Fprintf(w, `plan: the mechanism and the way to take part with the least noise in the mean of all rounds.
Exact errors per coordinate, in units of the gradient; composed central ε at δ = %g:

`, c.delta)
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
s = %d entries and τ = %.3g: from the norms of gradients on generated digits, so that the L1 norm fits and
most entries do. %s:
as large as lets the noise of all rounds pass, see package auto. Nothing was looked up in the clients' data.

`, s.Sparsity, s.Scale, steps)
	return err
}
