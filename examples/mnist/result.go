package main

import (
	"fmt"
	"io"

	"github.com/hushgrad/hushgrad/fl"
)

// result is the outcome of a run; its exported fields are summary.json.
type result struct {
	TestAccuracy   float64  `json:"test_accuracy"`
	Mechanism      string   `json:"mechanism"`
	EpsilonLocal   *float64 `json:"epsilon_local"`   // of one report, the largest with tiers; null without local privacy
	EpsilonCentral *float64 `json:"epsilon_central"` // of all rounds composed; null without privacy
	Delta          float64  `json:"delta"`
	Clients        int      `json:"clients"`
	Participations int      `json:"participations"` // of a client, at most
	Budget         float64  `json:"budget"`         // central; 0: none
	Tiers          string   `json:"tiers,omitempty"`
	Rounds         int      `json:"rounds"`
	Cohort         int      `json:"cohort"`
	Dim            int      `json:"dim"`
	Sparsity       int      `json:"sparsity"`
	BytesPerReport float64  `json:"bytes_per_report"`
	// MessagesPerReport is expected, in the sense of the shuffle model; 1 unless a
	// client's report is a multiset of messages.
	MessagesPerReport float64 `json:"messages_per_report"`
	Seconds           float64 `json:"seconds"`
	Data              string  `json:"data"`
	Model             string  `json:"model"`
	LearningRate      float64 `json:"learning_rate"`
	Momentum          float64 `json:"momentum"`
	Averaging         float64 `json:"averaging"`

	history []historyRow
	cores   int
	advice  []string
	cost    fl.Cost // zero unless a report holds many messages
	stopped expense // of the round that the budget did not allow
}

// historyRow is one line of the table and of history.csv.
type historyRow struct {
	Round    int
	Accuracy float64
	Loss     float64
	Reports  int64
	Bytes    int64
	Seconds  float64
	// EpsilonCentral is what this round and those before it cost together.
	EpsilonCentral *float64
}

func (r *result) add(row historyRow, spent expense) {
	r.history = append(r.history, row)
	r.TestAccuracy = row.Accuracy
	r.EpsilonCentral, r.Participations = spent.central, spent.participations
	if r.cost.Bytes > 0 { // report lengths vary: the mean so far
		var reports, bytes int64
		for _, h := range r.history {
			reports += h.Reports
			bytes += h.Bytes
		}
		r.BytesPerReport = float64(bytes) / float64(reports)
	}
}

// announce says what is about to happen.
func (r *result) announce(w io.Writer) {
	fmt.Fprintf(w, "%s, %d parameters, mechanism %s: %d rounds of %d clients, each client %s, simulated on %d cores\n\n",
		r.Model, r.Dim, r.Mechanism, r.Rounds, r.Cohort, times(r.Participations), r.cores)
	if r.cost.Bytes > 0 {
		fmt.Fprintf(w, "cost: about %.3g messages in %.3g bytes per client, %.3g MB per round, %.3g MB in all\n\n",
			r.cost.Messages, r.cost.Bytes, r.cost.Bytes*float64(r.Cohort)/1e6, r.cost.Bytes*float64(r.Cohort)*float64(r.Rounds)/1e6)
	}
	for _, advice := range r.advice {
		fmt.Fprintf(w, "note: %s\n\n", advice)
	}
}

func times(k int) string {
	if k == 1 {
		return "once"
	}
	return fmt.Sprintf("up to %d times", k)
}

// emptyLocal is a local ε that promises nothing to speak of: odds may change e^10 fold.
const emptyLocal = 10

// print is the closing summary.
func (r *result) print(w io.Writer) {
	dense := 4 * float64(r.Dim)
	fmt.Fprintf(w, "\ntest accuracy      %.4f  (%s digits, %.1f s)\n", r.TestAccuracy, r.Data, r.Seconds)
	if r.stopped.central != nil {
		fmt.Fprintf(w, "stopped            the budget of central ε = %g is spent: another round would make it %.3f\n", r.Budget, *r.stopped.central)
	}
	switch {
	case r.Tiers != "":
		fmt.Fprintf(w, "local privacy      %s per report, δ = 0: holds against everybody, the server included\n", r.Tiers)
	case r.EpsilonLocal != nil && r.Participations > 1:
		total := *r.EpsilonLocal * float64(r.Participations)
		fmt.Fprintf(w, "local privacy      ε = %.4g per report, %.4g for the %d reports of a client, δ = 0: holds against everybody, the server included\n",
			*r.EpsilonLocal, total, r.Participations)
		if total > emptyLocal {
			fmt.Fprintf(w, "                   So one report says little about its client; who can link all of them may learn its data.\n")
		}
	case r.EpsilonLocal != nil:
		fmt.Fprintf(w, "local privacy      ε = %.4g, δ = 0: holds against everybody, the server included\n", *r.EpsilonLocal)
	case r.EpsilonCentral != nil:
		fmt.Fprintf(w, "local privacy      none: whoever sees one client's messages together learns its gradient\n")
	default:
		fmt.Fprintf(w, "privacy            none: the server sees every gradient\n")
	}
	if r.EpsilonCentral != nil {
		fmt.Fprintf(w, "central privacy    ε = %.3f, δ = %g (replace one client), for who sees only the shuffled reports of a round\n", *r.EpsilonCentral, r.Delta)
		if r.Participations > 1 {
			fmt.Fprintf(w, "                   It is composed over the %d rounds in which a client takes part.\n", r.Participations)
		}
		fmt.Fprintf(w, "                   It trusts the shuffler. In this demo the server is its own shuffler: against\n")
		if r.EpsilonLocal != nil {
			fmt.Fprintf(w, "                   the server itself only the local ε holds.\n")
		} else {
			fmt.Fprintf(w, "                   the server itself nothing holds.\n")
		}
	}
	ratio, comparison := dense/r.BytesPerReport, "less"
	if ratio < 1 {
		ratio, comparison = 1/ratio, "more"
	}
	fmt.Fprintf(w, "upload per client  %.0f bytes, against %.0f bytes of a dense float32 gradient (%.4gx %s)\n",
		r.BytesPerReport, dense, ratio, comparison)
	if r.cost.Messages > 0 {
		fmt.Fprintf(w, "                   about %.3g messages, sent as one multiset of values and counts\n", r.cost.Messages)
	}
}
