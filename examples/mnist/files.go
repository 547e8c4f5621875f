package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hushgrad/hushgrad/trainer"
)

// write leaves the results in a directory, which it makes.
func (r *result) write(dir string, stdout io.Writer, model trainer.Model, params []float64) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	err := errors.Join(
		r.writeHistory(filepath.Join(dir, "history.csv")),
		r.writeSummary(filepath.Join(dir, "summary.json")),
		r.writePlot(filepath.Join(dir, "accuracy.png")),
		trainer.Save(filepath.Join(dir, "model.npy"), model, params),
	)
	if err == nil {
		fmt.Fprintf(stdout, "results            %s: history.csv, summary.json, accuracy.png, model.npy\n", dir)
	}
	return err
}

func (r *result) writeHistory(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	records := [][]string{{"round", "accuracy", "loss", "reports", "bytes", "epsilon_central", "seconds"}}
	for _, h := range r.history {
		records = append(records, []string{
			strconv.Itoa(h.Round),
			strconv.FormatFloat(h.Accuracy, 'g', -1, 64),
			strconv.FormatFloat(h.Loss, 'g', -1, 64),
			strconv.FormatInt(h.Reports, 10),
			strconv.FormatInt(h.Bytes, 10),
			central(h.EpsilonCentral),
			strconv.FormatFloat(h.Seconds, 'f', 3, 64),
		})
	}
	return errors.Join(w.WriteAll(records), f.Close())
}

// central is empty without privacy.
func central(epsilon *float64) string {
	if epsilon == nil {
		return ""
	}
	return strconv.FormatFloat(*epsilon, 'g', -1, 64)
}

func (r *result) writeSummary(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
