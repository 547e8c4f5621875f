package plan

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/wrap"
)

// String states the mechanism, the rounds and how often clients take part.
func (run *Run) String() string {
	times := "once"
	if k := run.participations(); k > 1 {
		times = fmt.Sprintf("up to %d times", k)
	}
	rounds := "one round"
	if run.Rounds > 1 {
		rounds = fmt.Sprintf("%d rounds", run.Rounds)
	}
	return fmt.Sprintf("mechanism %s: %s of %d clients, each client %s", run.Mechanism, rounds, run.Cohort, times)
}

// Remarks returns what is worth knowing beforehand, one sentence each: the upload where a
// report holds many messages, against whom ε holds with two servers, and the mechanism's advice.
func (run *Run) Remarks() (remarks []string) {
	if c, ok := run.Opened.(fl.Coster); ok {
		cost, round := c.Cost(), c.Cost().Bytes*float64(run.Cohort)
		remarks = append(remarks, fmt.Sprintf("cost: about %.3g messages per client, sent as one multiset of values and counts in %.3g bytes, %.3g MB per round, %.3g MB in all",
			cost.Messages, cost.Bytes, round/1e6, round*float64(run.Rounds)/1e6))
	}
	if run.Opened.Guarantee().Trust == fl.TwoServers {
		remarks = append(remarks, fmt.Sprintf("privacy: no local ε. Every central ε of %s is against one passive server, which follows the protocol", run.Mechanism))
	}
	// Advice is about slots at a given ε, not about those that were chosen together with it.
	if a, ok := run.Opened.(fl.Adviser); ok && (run.Schedule == nil || run.Schedule.FewerSlots == nil) {
		for _, advice := range a.Advice() {
			remarks = append(remarks, "note: "+advice)
		}
	}
	return remarks
}

// PrintStart writes what the run is and what is worth knowing beforehand, and what was
// compared where explain is true.
func (run *Run) PrintStart(w io.Writer, explain bool) error {
	if err := paragraphs(w, append([]string{run.String()}, run.Remarks()...)...); err != nil || !explain {
		return err
	}
	return run.Explain(w)
}

// PrintEnd writes and returns what the first rounds of the run promise its clients. It says
// so where the budget ended the run.
func (run *Run) PrintEnd(ctx context.Context, w io.Writer, rounds int) (Promise, error) {
	p, err := run.Promise(ctx, rounds)
	if err != nil {
		return p, err
	}
	if rounds == run.Affordable && rounds < run.Rounds {
		next, err := run.Spending.Promise(ctx, run.Affordable+1)
		if err != nil {
			return p, err
		}
		against := ""
		if p.TwoServers {
			against = " against one passive server"
		}
		stopped := fmt.Sprintf("the budget of central ε = %g%s is spent: another round would make it %s", run.Budget, against, above(*next.Central))
		if err := (Words{About: "stopped", Text: []string{stopped}}).Print(w); err != nil {
			return p, err
		}
	}
	if err := p.Print(w); err != nil || run.Seed == 0 {
		return p, err
	}
	fresh, err := run.Spending.Promise(ctx, rounds)
	if err == nil {
		err = Words{Text: []string{fmt.Sprintf("With fresh randomness the same run has: %v.", fresh)}}.Print(w)
	}
	return p, err
}

// Explain writes what was compared, what was chosen and why.
func (run *Run) Explain(w io.Writer) error {
	steps := fmt.Sprintf("learning rate %.3g, momentum %g, models averaged with decay %g", run.LearningRate, run.Momentum, run.Averaging)
	s := run.Schedule
	if s == nil {
		return paragraphs(w, "plan: "+steps)
	}
	if err := paragraphs(w, fmt.Sprintf(`plan: the mechanism, its number of slots t and the way to take part with the least noise in the mean
of all rounds. Each has the largest local ε within the budget. Exact errors per coordinate, in units of the
gradient; composed central ε at δ = %g:`, run.Spending.delta)); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "  mechanism\tt\treports\tcohort\tlocal ε\tcentral ε\terror of\terror of\n  \t\ta client\t\tof each\tof all\ta round\tthe run\n")
	for _, a := range s.Considered {
		fmt.Fprintf(table, "  %s\t%d\t%d\t%d\t%s\t%s\t%.3g\t%.3g\n",
			a.Mechanism, a.Slots, a.Participations, a.Cohort, above(a.EpsilonLocal), above(a.EpsilonCentral), a.Error*s.Scale, a.NoiseOfRun)
	}
	fmt.Fprintln(table)
	if err := table.Flush(); err != nil {
		return err
	}
	return paragraphs(w, append(s.choices(),
		fmt.Sprintf("s = %d entries and τ = %.3g: from the norms of public gradients, so that the L1 norm fits and most entries do.", s.Sparsity, s.Scale),
		steps+": as large as lets the noise of all rounds pass.",
		"All of this follows from public numbers, and from nothing in the clients' data of this run.",
		fmt.Sprintf("The constants of these rules (τ a share of %g, noise %g, rate %g, momentum %g, decay %g) were %s: docs/training.md.",
			peakShare, s.rule.noiseGoal, s.rule.rateLimit, stepMomentum, stepAveraging, s.rule.origin))...)
}

// paragraphs writes texts as wide as a terminal, with an empty line behind each.
func paragraphs(w io.Writer, texts ...string) error {
	for _, text := range texts {
		if _, err := io.WriteString(w, wrap.Text(text, "")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// choices are what the number of slots costs and buys, and what more reports would.
func (s *Schedule) choices() (texts []string) {
	if f := s.FewerSlots; f != nil {
		texts = append(texts, fmt.Sprintf(`a larger local ε: %s instead of %s. t = %d slots take it and have an error of %.3g in a round. The number of
slots that is best for its own ε, %d with %s, has %.3g at the same central ε. -max-epsilon limits the local ε.`,
			above(s.EpsilonLocal), above(f.EpsilonLocal), s.Slots, s.Error*s.Scale, f.Slots, f.Mechanism, f.Error*s.Scale))
	}
	if s.NoiseOfFour != 0 {
		texts = append(texts, fmt.Sprintf(`one report of a client at a time: four, each with its share of the budget, would have an error of the run of about
%.3g instead of %.3g, for four times the upload. Four times as many rounds (-rounds %d) have the same.`,
			s.NoiseOfFour, s.Considered[0].NoiseOfRun, 4*s.Rounds))
	}
	return texts
}
