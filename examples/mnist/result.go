package main

import (
	"fmt"
	"io"
)

// result is the outcome of a run; its exported fields are summary.json.
type result struct {
	TestAccuracy   float64  `json:"test_accuracy"`
	Mechanism      string   `json:"mechanism"`
	EpsilonLocal   *float64 `json:"epsilon_local"`   // null without privacy
	EpsilonCentral *float64 `json:"epsilon_central"` // null without privacy
	Delta          float64  `json:"delta"`
	Clients        int      `json:"clients"`
	Rounds         int      `json:"rounds"`
	Cohort         int      `json:"cohort"`
	Dim            int      `json:"dim"`
	Sparsity       int      `json:"sparsity"`
	BytesPerReport float64  `json:"bytes_per_report"`
	Seconds        float64  `json:"seconds"`
	Data           string   `json:"data"`
	Model          string   `json:"model"`

	history []historyRow
	cores   int
	advice  []string
}

// historyRow is one line of the table and of history.csv.
type historyRow struct {
	Round    int
	Accuracy float64
	Loss     float64
	Reports  int64
	Bytes    int64
	Seconds  float64
}

func (r *result) add(row historyRow) {
	r.history = append(r.history, row)
	r.TestAccuracy = row.Accuracy
}

// announce says what is about to happen.
func (r *result) announce(w io.Writer) {
	fmt.Fprintf(w, "%s, %d parameters, mechanism %s: %d rounds of %d clients, each client once, simulated on %d cores\n\n",
		r.Model, r.Dim, r.Mechanism, r.Rounds, r.Cohort, r.cores)
	for _, advice := range r.advice {
		fmt.Fprintf(w, "note: %s\n\n", advice)
	}
}

// print is the closing summary.
func (r *result) print(w io.Writer) {
	dense := 4 * float64(r.Dim)
	fmt.Fprintf(w, "\ntest accuracy      %.4f  (%s digits, %.1f s)\n", r.TestAccuracy, r.Data, r.Seconds)
	if r.EpsilonLocal == nil {
		fmt.Fprintf(w, "privacy            none: the server sees every gradient\n")
	} else {
		fmt.Fprintf(w, "local privacy      ε = %g, δ = 0: holds against everybody, the server included\n", *r.EpsilonLocal)
	}
	if r.EpsilonCentral != nil {
		fmt.Fprintf(w, "central privacy    ε = %.3f, δ = %g (replace one client), for who sees only the shuffled reports of a round\n", *r.EpsilonCentral, r.Delta)
		fmt.Fprintf(w, "                   It trusts the shuffler. In this demo the server is its own shuffler: against\n")
		fmt.Fprintf(w, "                   the server itself only the local ε holds.\n")
	}
	fmt.Fprintf(w, "upload per client  %.0f bytes, against %.0f bytes of a dense float32 gradient (%.0fx less)\n",
		r.BytesPerReport, dense, dense/r.BytesPerReport)
}
