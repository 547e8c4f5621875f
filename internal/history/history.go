// Package history keeps the rounds of a training run: a table on a terminal, and files. Use
// it in a command that trains, so that all leave the same files. Start with [New].
package history

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/internal/figure/paint"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// Measure is how good a model is.
type Measure struct {
	Name   string // in the table and the picture
	Column string // in files, and the name of the picture
	limits [2]float64
}

// Measures.
var (
	// Accuracy is the share of right classes.
	Accuracy = Measure{Name: "accuracy", Column: "accuracy", limits: [2]float64{0, 1}}
	// RSquared is the coefficient of determination: 1 for perfect predictions, 0 for those
	// that are always the mean, and less for worse ones.
	RSquared = Measure{Name: "R²", Column: "r2"}
)

// Round is one round: a line of the table and of history.csv.
type Round struct {
	Round          int // from 1
	Score, Loss    float64
	Reports, Bytes int64
	// EpsilonLocal and EpsilonCentral are what this round and those before it cost a client
	// together: against everybody, and against a party that sees only shuffled reports. nil
	// where nothing is promised.
	EpsilonLocal, EpsilonCentral *float64
	Seconds                      float64
}

// History is what the rounds so far led to.
type History struct {
	w       io.Writer
	measure Measure
	central bool
	rounds  []Round
}

// New prints the heading of the table, with a column for central ε where central is true.
func New(w io.Writer, m Measure, central bool) (*History, error) {
	h := &History{w: w, measure: m, central: central}
	return h, h.print("round", m.Name, "loss", "reports", "bytes", "local ε", "central ε", "s")
}

// print prints a line of the table.
func (h *History) print(round, score, loss, reports, bytes, local, central, seconds string) error {
	epsilon := fmt.Sprintf("%7s", local)
	if h.central {
		epsilon += fmt.Sprintf("  %9s", central)
	}
	_, err := fmt.Fprintf(h.w, "%5s  %8s  %7s  %7s  %9s  %s  %5s\n", round, score, loss, reports, bytes, epsilon, seconds)
	return err
}

// Add prints a line.
func (h *History) Add(r Round) error {
	h.rounds = append(h.rounds, r)
	return h.print(strconv.Itoa(r.Round), fmt.Sprintf("%.4f", r.Score), fmt.Sprintf("%.4f", r.Loss), strconv.FormatInt(r.Reports, 10), strconv.FormatInt(r.Bytes, 10),
		optional(shown, r.EpsilonLocal, "–"), optional(shown, r.EpsilonCentral, "–"), fmt.Sprintf("%.2f", r.Seconds))
}

// optional is a number, or what stands for none.
func optional(write func(float64) string, x *float64, none string) string {
	if x == nil {
		return none
	}
	return write(*x)
}

// shown writes a guarantee in a table: four digits, rounded up.
func shown(x float64) string { return fl.FormatUp(x, 4) }

// number writes all digits, for a file.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Score returns the score of the last round, and 0 before the first round.
func (h *History) Score() float64 {
	if len(h.rounds) == 0 {
		return 0
	}
	return h.rounds[len(h.rounds)-1].Score
}

// Spark returns the scores so far as blocks of growing height, one for a round, or one for the last of several rounds where there are more
// than columns. The lowest score so far, and none below 0, has the lowest block, and 1 the highest. Use it on terminals.
func (h *History) Spark(columns int) string {
	blocks, lowest := []rune("▁▂▃▄▅▆▇█"), 1.
	for _, r := range h.rounds {
		lowest = min(lowest, max(0, r.Score))
	}
	shown := min(columns, len(h.rounds))
	var out strings.Builder
	for i := range shown {
		score := h.rounds[(i+1)*len(h.rounds)/shown-1].Score
		height := (score - lowest) / max(1-lowest, 1e-9)
		out.WriteRune(blocks[int(min(max(0, height), 1)*float64(len(blocks)-1)+0.5)])
	}
	return out.String()
}

// BytesPerReport returns the mean length of all reports, and 0 before the first.
func (h *History) BytesPerReport() float64 {
	var reports, bytes int64
	for _, r := range h.rounds {
		reports += r.Reports
		bytes += r.Bytes
	}
	return float64(bytes) / float64(max(1, reports))
}

// PrintUpload compares the mean length of a report with a dense gradient of dim numbers.
func (h *History) PrintUpload(w io.Writer, dim int) error {
	sent, dense := h.BytesPerReport(), 4*float64(dim)
	ratio, comparison := dense/sent, "less"
	if ratio < 1 {
		ratio, comparison = 1/ratio, "more"
	}
	_, err := fmt.Fprintf(w, "upload per report  %.0f bytes; %.0f for a dense float32 gradient (%.4gx %s)\n", sent, dense, ratio, comparison)
	return err
}

// Writable finds out, before a long run, whether files can be written into a directory, which may be missing and is then left so: a run that is refused
// leaves nothing behind. The error is a *fl.ParamError about a flag. An empty name is for no directory.
func Writable(flag, dir string) error {
	if dir == "" {
		return nil
	}
	var made []string // from the inside
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(dir, ".writable-*"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	for _, each := range made {
		_ = os.Remove(each) // not if somebody else has written there
	}
	if err != nil {
		return fl.Invalid(flag, dir, "must be a directory that can be made and written: %v", err)
	}
	return nil
}

// Write leaves history.csv, summary.json with the given summary, and a picture of the measure, such
// as accuracy.png, under the given title in a directory, which it makes. Each file is whole or not there.
func (h *History) Write(dir, title string, summary any) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(summary, "", "  ")
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"summary.json", func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err }},
		{"history.csv", h.writeCSV},
		{h.measure.Column + ".png", func(w io.Writer) error { return paint.PNG(w, h.figure(title)) }},
	} {
		if err := command.Replace(context.Background(), filepath.Join(dir, file.name), file.write); err != nil {
			return fmt.Errorf("--out: %s: %w", file.name, err)
		}
	}
	return nil
}

func (h *History) writeCSV(w io.Writer) error {
	records := [][]string{{"round", h.measure.Column, "loss", "reports", "bytes", "epsilon_local", "epsilon_central", "seconds"}}
	for _, r := range h.rounds {
		records = append(records, []string{
			strconv.Itoa(r.Round), number(r.Score), number(r.Loss), strconv.FormatInt(r.Reports, 10), strconv.FormatInt(r.Bytes, 10),
			optional(number, r.EpsilonLocal, ""), optional(number, r.EpsilonCentral, ""), strconv.FormatFloat(r.Seconds, 'f', 3, 64),
		})
	}
	return csv.NewWriter(w).WriteAll(records)
}

// figure is the measure by round.
func (h *History) figure(title string) *figure.Figure {
	series := figure.Series{Style: figure.LinePoints}
	for _, r := range h.rounds {
		series.X, series.Y = append(series.X, float64(r.Round)), append(series.Y, r.Score)
	}
	return &figure.Figure{Title: title, Panels: []figure.Panel{{
		XLabel: "round", YLabel: "test " + h.measure.Name, YRange: h.measure.limits, Series: []figure.Series{series},
	}}}
}
