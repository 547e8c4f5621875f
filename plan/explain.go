package plan

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/wrap"
	"github.com/hushgrad/hushgrad/privunit"
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
	if run.Records > 0 {
		return fmt.Sprintf("mechanism %s: %s of %d sites, which send sums of %d records together", run.Mechanism, rounds, run.Cohort, run.Records)
	}
	return fmt.Sprintf("mechanism %s: %s of %d %ss, each %s %s", run.Mechanism, rounds, run.Cohort, run.Unit, run.Unit, times)
}

// Remarks returns what is worth knowing beforehand, one sentence each: the upload where a
// report holds many messages, against whom ε holds with two servers, what clients who lie can do, who adds the noise at sites, what the first round is about, and
// the mechanism's advice.
func (run *Run) Remarks() (remarks []string) {
	if c, ok := run.Opened.(fl.Coster); ok {
		cost, round := c.Cost(), c.Cost().Bytes*float64(run.Cohort)
		remarks = append(remarks, fmt.Sprintf("cost: about %.3g messages per client, sent as one multiset of values and counts in %.3g bytes, %.3g MB per round, %.3g MB in all",
			cost.Messages, cost.Bytes, round/1e6, round*float64(run.Rounds)/1e6))
	}
	if run.Opened.Guarantee().Trust == fl.TwoServers {
		local := "no local ε"
		if run.Template.Params.Has(hdsum.ParamOwnEpsilon) {
			local = "every local ε is of the client's own noise, and holds against both servers together"
		}
		remarks = append(remarks, fmt.Sprintf("privacy: %s. Every central ε of %s is against either server alone, whatever that server does", local, run.Mechanism))
	}
	if noised, ok := run.Opened.(fl.HonestNoised); ok {
		if _, reports, ok := noised.HonestGuarantee(); ok {
			remarks = append(remarks, fmt.Sprintf("noise: clients add a part of it, and the servers the rest. A smaller central ε holds if %d of the %d reports of each round are of honest clients", reports, run.Cohort))
		}
	}
	if remark := run.sway(); remark != "" {
		remarks = append(remarks, remark)
	}
	if run.Trust == OwnSite && run.Records > 0 {
		remarks = append(remarks, "privacy: nobody outside of a site is trusted. Each site adds the whole noise to its own sum before it sends it. Every ε is of one record, and not of all records of a person or of a site")
	}
	if run.Centring != nil {
		remarks = append(remarks, "features: "+run.Centring.String())
	}
	// Advice is about slots at a given ε, not about those that were chosen together with it.
	if a, ok := run.Opened.(fl.Adviser); ok && (run.Schedule == nil || run.Schedule.FewerSlots == nil) {
		for _, advice := range a.Advice() {
			remarks = append(remarks, "note: "+advice)
		}
	}
	return remarks
}

// PrintStart writes what the run is, what is worth knowing beforehand and what to expect, and what was
// compared where explain is true.
func (run *Run) PrintStart(w io.Writer, explain bool) error {
	if err := paragraphs(w, append([]string{run.String()}, run.Remarks()...)...); err != nil {
		return err
	}
	if explain {
		if err := run.Explain(w); err != nil {
			return err
		}
	}
	if run.Expected == nil {
		return nil
	}
	return Words{About: "expected accuracy", Text: []string{fmt.Sprintf("%v, as rehearsed on %s: 95 of 100 runs on them end within the ±", run.Expected, run.Expected.On)}}.Print(w)
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
		against, would := "", next.Central
		switch {
		case p.TwoServers:
			against = " against either server alone"
		case run.Trust.Local():
			would = next.LocalTotal
		}
		stopped := fmt.Sprintf("the budget of %s%s is spent: another round would make it %s", run.Trust.describe(run.Budget), against, beyond(*would, run.Budget))
		if err := (Words{About: "stopped", Text: []string{stopped}}).Print(w); err != nil {
			return p, err
		}
	}
	if err := p.Print(w); err != nil || run.Seed == 0 {
		return p, err
	}
	fresh, err := run.Spending.Promise(ctx, rounds)
	if fresh.Unit = run.Unit; err == nil {
		err = Words{Text: []string{fmt.Sprintf("With fresh randomness the same run has: %v.", fresh)}}.Print(w)
	}
	return p, err
}

// beyond writes an ε as above, and with as many digits as tell it from a budget below it.
func beyond(epsilon, budget float64) string {
	if text := above(epsilon); text != above(budget) {
		return text
	}
	return strconv.FormatFloat(epsilon, 'g', -1, 64)
}

// Explain writes what was compared, what was chosen and why.
func (run *Run) Explain(w io.Writer) error {
	steps := fmt.Sprintf("learning rate %.3g, momentum %.3g, models averaged with decay %.3g", run.LearningRate, run.Momentum, run.Averaging)
	s := run.Schedule
	if s == nil && run.Records > 0 {
		r := run.Template
		return paragraphs(w, fmt.Sprintf("plan: %s, δ = %g of a round, of which %d are within the budget; each record's gradient clipped to the L2 norm %.3g; %s", "ε = "+above(r.Epsilon), r.Delta, run.Affordable, r.Scale, steps))
	}
	if s == nil {
		return paragraphs(w, "plan: "+steps)
	}
	if err := paragraphs(w, fmt.Sprintf(`plan: the mechanism, its number of slots t, its entries s, its clip and the way to take part with the least error of the mean
of all rounds: noise, and with a public sample what the clip cuts. Each has the largest local ε within the budget. Exact
standard errors per coordinate, in units of the gradient; composed central ε at δ = %g; slope is the share of the public sample's mean
gradient that the clip leaves. privunit has t candidates, of which s are likely:`, run.Spending.delta)); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintf(table, "  mechanism\tt\ts\treports\tcohort\tlocal ε\tcentral\terror of\terror of\tslope\n  \t\t\t\t\tof each\tε of all\ta round\tthe run\n")
	for _, a := range s.Considered {
		fmt.Fprintf(table, "  %s\t%d\t%d\t%d\t%d\t%s\t%s\t%.3g\t%.3g\t%s\n",
			a.Mechanism, a.Slots, a.Sparsity, a.Participations, a.Cohort, above(a.EpsilonLocal), above(a.EpsilonCentral), a.shape.noise(a.Plan, run.Dim), a.NoiseOfRun, share(a.Slope))
	}
	fmt.Fprintln(table)
	if err := table.Flush(); err != nil {
		return err
	}
	said := append(s.choices(run.Dim), run.Outlook.words()...)
	if run.doubled {
		said = append(said, fmt.Sprintf("%d rounds: of %d to %d, doubled as long as that takes a tenth of the run's noise away.", run.Rounds, leastRounds, mostRounds))
	}
	return paragraphs(w, append(said,
		s.clipped(run.smooth != nil && run.smooth.Chances),
		steps+": as large as lets the noise of all rounds pass.",
		"All of this follows from public numbers, and from nothing in the clients' data of this run.",
		run.origin())...)
}

// origin says where the constants of the rules come from.
func (run *Run) origin() string {
	if run.smooth != nil {
		return run.smooth.String()
	}
	if o := run.Outlook; o != nil && o.Factor > 0 {
		return "The constants of these rules for runs that start from a public model were found on handwriting fonts that the public model had not seen: docs/training.md."
	}
	rule, clip := run.Schedule.rule, ""
	if run.Schedule.Considered[0].SignalToNoise == nil && run.Schedule.Mechanism != privunit.Name { // no public sample, and entries to clip
		clip = fmt.Sprintf("τ a share of %g, ", peakShare)
	}
	return fmt.Sprintf("The constants of these rules (%snoise %g, rate %g, momentum %g, decay %g) were %s: docs/training.md.",
		clip, rule.noiseGoal, rule.rateLimit, stepMomentum, stepAveraging, rule.origin)
}

// share writes a slope, or that it is not known.
func share(slope *float64) string {
	if slope == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *slope)
}

// clipped says what becomes of a gradient, and how that was found.
func (s *Schedule) clipped(converges bool) string {
	longer := ""
	if converges {
		longer = fmt.Sprintf(" A short clip also moves the model at which training ends, so this is the longest of some that leave %g of the largest signal.", signalKept)
	}
	clip := fmt.Sprintf("s = %d entries and τ = %.3g", s.Sparsity, s.Scale)
	if s.Mechanism == privunit.Name {
		clip = fmt.Sprintf("the L2 norm is clipped to %.3g", s.Scale)
	}
	slope := s.Considered[0].Slope
	switch {
	case s.Considered[0].SignalToNoise != nil && slope == nil:
		return clip + ": chosen on a sample of public gradients, of which no mean stands out: what the clip leaves of the mean is not known."
	case slope == nil:
		return clip + ": from the norms of public gradients. This is a fallback: a sample of public gradients would show how much the clip cuts."
	}
	return fmt.Sprintf("%s: chosen on a sample of public gradients. The estimate is unbiased for the mean of clipped gradients, which has %.2f of the sample's mean gradient. The learning rate takes care of a multiple.%s", clip, *slope, longer)
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
func (s *Schedule) choices(dim int) (texts []string) {
	one := s.Considered[0].shape
	if f := s.FewerSlots; f != nil {
		texts = append(texts, fmt.Sprintf(`a larger local ε: %s instead of %s. t = %d slots take it and have an error of %.3g in a round. The number of
slots that is best for its own ε, %d with %s, has %.3g at the same central ε. --max-epsilon limits the local ε.`,
			above(s.EpsilonLocal), above(f.EpsilonLocal), s.Slots, one.noise(s.Plan, dim), f.Slots, f.Mechanism, one.noise(*f, dim)))
	}
	if s.NoiseOfFour != 0 {
		texts = append(texts, fmt.Sprintf(`one report of a client at a time: four, each with its share of the budget, would have an error of the run of about
%.3g instead of %.3g, for four times the upload. Four times as many rounds (--rounds %d) have the same.`,
			s.NoiseOfFour, s.Considered[0].NoiseOfRun, 4*s.Rounds))
	}
	return texts
}
