package main

import (
	"fmt"
	"io"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
)

// foretold is what --dry-run prints for programs.
type foretold struct {
	Rounds     int          `json:"rounds"`
	Affordable int          `json:"rounds_within_the_budget"`
	Suffices   bool         `json:"budget_suffices"`
	First      string       `json:"first_round"`
	Last       string       `json:"last_round"`
	Mechanism  string       `json:"mechanism"`
	Trust      plan.Trust   `json:"trust"`
	Budget     float64      `json:"budget"`
	Bytes      float64      `json:"bytes_per_report"`
	OneRound   plan.Promise `json:"one_round"`
	AllRounds  plan.Promise `json:"all_rounds"`
}

// foretell prints what would be done.
func (r *runFlags) foretell(w io.Writer) error {
	size, about, err := r.bytesPerReport()
	if err != nil {
		return err
	}
	answer := foretold{r.rounds, r.limit, r.limit == r.rounds, r.id(1), r.id(r.limit), r.round.Mechanism, r.trust, r.budget, size, r.one, r.participates}
	return r.output.print(w, answer, func(w io.Writer) error {
		reports := fmt.Sprintf("%d reports or more", r.round.MinReports)
		if t := r.round.TargetReports; t > 0 {
			reports = fmt.Sprintf("%d to %d reports", r.round.MinReports, t)
		}
		lasts := ""
		if r.lasts > 0 {
			lasts = fmt.Sprintf(", at most %v each", r.lasts)
		}
		budget := "none"
		switch {
		case r.budget > 0 && answer.Suffices:
			budget = fmt.Sprintf("ε = %g is enough for all rounds", r.budget)
		case r.budget > 0:
			budget = fmt.Sprintf("ε = %g is not enough: it ends the run after %d of %d rounds", r.budget, r.limit, r.rounds)
		}
		turn := "each client may report in every round"
		if r.clients > 0 {
			turn = fmt.Sprintf("%d clients take part in turn, each in at most %d rounds", r.clients, r.participates.Participations)
		}
		for _, line := range []struct{ about, text string }{
			{"rounds", fmt.Sprintf("%d: %s to %s, with %s%s", r.limit, answer.First, answer.Last, reports, lasts)},
			{"clients", turn},
			{"report", fmt.Sprintf("%s by %s, %s%.0f bytes", r.mechanism.Guarantee(), r.round.Mechanism, about, size)},
			{"steps", fmt.Sprintf("learning rate %g, momentum %g", r.steps.LearningRate, r.steps.Momentum)},
			{"budget", budget},
			{"one round", r.one.String()},
		} {
			if err := (plan.Words{About: line.about, Text: []string{line.text}}).Print(w); err != nil {
				return err
			}
		}
		return r.participates.Print(w)
	})
}

// bytesPerReport is the length of a report, and "about " where reports have several.
func (r *runFlags) bytesPerReport() (size float64, about string, err error) {
	switch m := r.mechanism.(type) {
	case fl.ReportSizer:
		return float64(m.ReportBytes()), "", nil
	case fl.Coster:
		return m.Cost().Bytes, "about ", nil
	}
	report, err := r.mechanism.Encode(nil, make([]float64, r.round.Dim), nil)
	return float64(len(report)), "about ", err
}
