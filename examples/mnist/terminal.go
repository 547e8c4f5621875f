package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// table prints one line per round.
type table struct{ w io.Writer }

func newTable(w io.Writer) table {
	fmt.Fprintf(w, "%5s  %8s  %7s  %7s  %9s  %9s  %5s\n", "round", "accuracy", "loss", "reports", "bytes", "central ε", "s")
	return table{w: w}
}

func (t table) print(r historyRow) error {
	epsilon := "–"
	if r.EpsilonCentral != nil {
		epsilon = fmt.Sprintf("%.3f", *r.EpsilonCentral)
	}
	_, err := fmt.Fprintf(t.w, "%5d  %8.4f  %7.4f  %7d  %9d  %9s  %5.2f\n", r.Round, r.Accuracy, r.Loss, r.Reports, r.Bytes, epsilon, r.Seconds)
	return err
}

// bar shows the clients of the whole run; it is invisible unless w is a terminal.
type bar struct {
	mu sync.Mutex
	*progressbar.ProgressBar
}

func newBar(w io.Writer, c config) *bar {
	file, ok := w.(*os.File)
	return &bar{ProgressBar: progressbar.NewOptions(c.rounds*c.cohort,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(ok && term.IsTerminal(int(file.Fd()))),
		progressbar.OptionSetDescription("clients"),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100e6),
		progressbar.OptionClearOnFinish(),
	)}
}

// step counts one client. The bar is decoration: it cannot fail the run.
func (b *bar) step() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.Add(1)
}

// clear makes room for a line of the table.
func (b *bar) clear() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Clear()
}
