package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/examples/internal/training"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
)

// summary is what a run led to: summary.json.
type summary struct {
	Task      string  `json:"task"`
	Measure   string  `json:"measure"`
	TestScore float64 `json:"test_score"`
	// Commonest is the share of the test rows in the commonest class, which a model that ignores its columns would get right; null for numbers.
	Commonest *float64 `json:"commonest_class"`
	*training.Outcome
	Data   string `json:"data"`
	Expand string `json:"expand"` // as the flag says it: all that a party needs to compute the features
}

// finish prints and writes what a run led to.
func (o options) finish(ctx context.Context, t task, scale *scaling, done *training.Outcome, test []float64, w io.Writer) error {
	common := o.schema.commonest(test)
	if err := done.Print(ctx, w, remark(done.Score, common, len(test)), ""); err != nil {
		return err
	}
	simulated := ""
	switch {
	case done.Trust == plan.TwoServers:
		simulated = "This example simulates all clients, and one machine runs both servers: it shows what clients of two parties would be promised."
	case done.Central != nil:
		simulated = "No shuffler runs here, and this example simulates all clients: it shows what they would be promised. A report that goes through a shuffler is sealed and has tokens: some 760 bytes."
	case done.Local != nil:
		simulated = "This example simulates all clients: it shows what they would be promised."
	}
	if simulated != "" {
		if err := (plan.Words{Text: []string{simulated}}).Print(w); err != nil {
			return err
		}
	}
	s := summary{Task: t.name, Measure: t.measure.Column, TestScore: done.Score, Commonest: common, Outcome: done, Data: o.data, Expand: o.expand}
	title := fmt.Sprintf("%s of %s, %s, %v", t.name, o.schema.target.name, done.Mechanism, done.Promise)
	files := "coefficients.csv"
	if o.schema.expand.frequencies != nil {
		files += ", fourier.csv"
	}
	if o.unseen != nil {
		files += ", predictions.csv"
	} else if _, err := os.Stat(filepath.Join(o.out, "predictions.csv")); err == nil {
		files += "; predictions.csv is an earlier model's"
	}
	return done.Write(w, o.out, title, s, files, func() error {
		save := func(name string, write func(w io.Writer) error) error {
			return command.Replace(ctx, filepath.Join(o.out, name), write)
		}
		err := save("coefficients.csv", func(w io.Writer) error { return o.writeCoefficients(w, t, scale, done.Params) })
		if err == nil && o.schema.expand.frequencies != nil {
			err = save("fourier.csv", func(w io.Writer) error { return o.schema.expand.writeFourier(w, o.schema.names()) })
		}
		if err == nil && o.unseen != nil {
			err = save("predictions.csv", func(w io.Writer) error { return o.writePredictions(w, t, scale, done.Params) })
		}
		return err
	})
}

// remark is what stands behind the score of n rows for testing: how far chance moves a share of them, and the commonest class, or nil for numbers. It says
// so where the model is worse than one that ignores the columns.
func remark(score float64, common *float64, n int) string {
	below := "\n" + strings.Repeat(" ", 19)
	if common == nil {
		if score < 0 {
			return below + "worse than the mean alone: always predicting the" + below + "mean of these rows is nearer to them"
		}
		return ""
	}
	text := fmt.Sprintf("  (the commonest class alone has %.4f)", *common)
	if wrong := 1.96 * math.Sqrt(score*(1-score)/float64(n)); wrong > 0 { // where all rows are right or wrong, the formula says nothing
		text = fmt.Sprintf(" ± %.3f (95 %%, of %d rows)", math.Ceil(1000*wrong)/1000, n) + below + strings.TrimSpace(text)
	}
	if score < *common {
		text += below + "worse than the commonest class alone: always" + below + "answering it is right more often on these rows"
	}
	return text
}

// writeCoefficients writes a line for each value of a row, each added feature and the bias, with its centre and spread, and a column for each class. For
// linear regression the last line has the target's centre and spread. Centres and spreads are in places of a range, from −1 to 1.
func (o options) writeCoefficients(w io.Writer, t task, scale *scaling, params []float64) error {
	values := o.schema.names()
	names := append(slices.Concat(values, o.schema.expand.names(values)), "bias")
	records := [][]string{append([]string{"input", "centre", "spread"}, t.classes...)}
	for j, name := range names {
		records = append(records, append([]string{name}, scale.cells(j, j >= len(values))...))
	}
	for k := range t.classes {
		for i, v := range t.coefficients(params, k) {
			records[i+1] = append(records[i+1], text(v))
		}
	}
	if o.schema.target.values == nil {
		target := append([]string{o.schema.target.name}, scale.cells(len(values), false)...)
		records = append(records, append(target, ""))
	}
	return csv.NewWriter(w).WriteAll(records)
}

// cells are a centre and a spread, where there are any.
func (s *scaling) cells(j int, none bool) []string {
	if none || !s.numbers[j] {
		return []string{"", ""}
	}
	return []string{text(s.centre[j]), text(s.spread[j])}
}
