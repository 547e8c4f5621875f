// Package speed measures what a report of a sparse mechanism costs its client and the server.
// Use it to size a server, and to see what a change of an encoder or decoder does. Start with
// go run ./bench speed.
package speed

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/sparse"
)

// Experiments returns the experiments of the package.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{
		Name:    "speed",
		Title:   "Time per report of CoCo, on the server and on the client",
		Source:  "The cost of a report in Wang et al. is one scan of all coordinates",
		Without: []string{experiment.FlagData},
		Bind:    func(*flag.FlagSet) experiment.Run { return run },
	}, sums}
}

// work is one operation at one size. All run on one core.
type work struct {
	what    string
	hash    string
	dim, s  int
	epsilon float64
}

func (w work) round() fl.Round {
	return fl.Round{
		ID: "speed", Mechanism: coco.Name, Dim: w.dim, Scale: 1, Epsilon: w.epsilon, Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
		Params: fl.Params{sparse.ParamSparsity: fl.Int(w.s), sparse.ParamHash: fl.Text(w.hash)},
	}
}

const (
	decode         = "server: add a report"
	encode         = "client: encode a gradient"
	encodesTernary = "client: encode a ternary vector"
)

// all are what is measured: the server for two sizes of reports, and the client.
func all(quick bool) (works []work) {
	dims := []int{1 << 10, 1 << 14, 1 << 17, 1 << 20}
	if quick {
		dims = dims[:2]
	}
	for _, w := range []work{
		{what: decode, hash: sparse.HashGF2, s: 8, epsilon: 1}, {what: decode, hash: sparse.HashIdeal, s: 8, epsilon: 1},
		{what: decode, hash: sparse.HashGF2, s: 64, epsilon: 5}, {what: decode, hash: sparse.HashIdeal, s: 64, epsilon: 5},
	} {
		for _, w.dim = range dims {
			works = append(works, w)
		}
	}
	client := work{what: encode, hash: sparse.HashGF2, dim: 7850, s: 64, epsilon: 5}
	ternary := client
	ternary.what = encodesTernary
	return append(works, client, ternary)
}

func run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	works, repeats := all(env.Quick), env.RepeatsOr(200)
	if env.Quick {
		repeats = env.RepeatsOr(20)
	}
	r := &experiment.Result{
		Columns: []string{"operation", "hash", "dim", "sparsity", "epsilon", "nanoseconds", "median_nanoseconds"},
		Notes: []string{
			fmt.Sprintf("nanoseconds is the fastest of %d repeats of a millisecond or more each, on one core: what else the machine does makes repeats slower and never faster.", repeats),
			"What is paid once per round is left out: tables of the client, and one transform of the server.",
		},
	}
	env.Progress.Describe("speed")
	env.Progress.Grow(len(works))
	panel := figure.Panel{XLabel: "coordinates, d", YLabel: "nanoseconds per report on the server", LogX: true, LogY: true}
	for i := range works {
		w := &works[i]
		times, err := w.measure(ctx, env.Seed, uint64(i), repeats)
		if err != nil {
			return nil, fmt.Errorf("%s, d = %d: %w", w.what, w.dim, err)
		}
		slices.Sort(times)
		r.Rows = append(r.Rows, experiment.Row{w.what, w.hash, w.dim, w.s, w.epsilon, times[0], times[len(times)/2]})
		if name := fmt.Sprintf("%s, s = %d, ε = %g", w.hash, w.s, w.epsilon); w.what == decode {
			if k := len(panel.Series); k == 0 || panel.Series[k-1].Name != name {
				panel.Series = append(panel.Series, figure.Series{Name: name, Style: figure.LinePoints})
			}
			s := &panel.Series[len(panel.Series)-1]
			s.X, s.Y = append(s.X, float64(w.dim)), append(s.Y, times[0])
		}
		env.Progress.Step()
	}
	r.Plot = &figure.Figure{Panels: []figure.Panel{panel}}
	return r, nil
}

// measure returns nanoseconds of an operation, once per repeat.
func (w *work) measure(ctx context.Context, seed, number uint64, repeats int) ([]float64, error) {
	do, err := w.operation(seed, number)
	if err != nil {
		return nil, err
	}
	// As many as take a millisecond, also when nothing interrupts them. A server collects reports
	// and adds them together, so that few of them may cost nothing.
	n, out := 1, []float64(nil)
	if w.what == decode && w.hash == sparse.HashGF2 {
		n = 1 << 16
	}
	for ; ; n *= 2 {
		if out, err = take(ctx, n, 3, do); err != nil || slices.Min(out)*float64(n) > 1e6 {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return take(ctx, n, repeats, do)
}

// take returns nanoseconds of an operation that is done n times in each repeat.
func take(ctx context.Context, n, repeats int, do func() error) (out []float64, err error) {
	for range repeats {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := times(n, do); err != nil {
			return nil, err
		}
		out = append(out, float64(time.Since(began).Nanoseconds())/float64(n))
	}
	return out, nil
}

func times(n int, do func() error) error {
	for range n {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// operation returns the operation on real reports or a gradient of normal entries.
func (w *work) operation(seed, number uint64) (func() error, error) {
	_, opened, err := fl.Complete(w.round())
	if err != nil {
		return nil, err
	}
	m, rng := opened.(fl.SparseMechanism), experiment.Stream(seed, 94, number)
	x := fl.Ternary{Dim: w.dim}
	for j := range w.s {
		x.Index, x.Sign = append(x.Index, uint32(j)), append(x.Sign, int8(1-2*(j%2)))
	}
	switch w.what {
	case encode:
		grad := make([]float64, w.dim)
		for j := range grad {
			grad[j] = rng.NormFloat64() / 40
		}
		var report []byte
		return func() (err error) { report, err = m.Encode(report[:0], grad, rng); return err }, nil
	case encodesTernary:
		var report []byte
		return func() (err error) { report, err = m.EncodeTernary(report[:0], x, rng); return err }, nil
	}
	reports := make([][]byte, 4096)
	for i := range reports {
		if reports[i], err = m.EncodeTernary(nil, x, rng); err != nil {
			return nil, err
		}
	}
	agg, i := m.NewAggregator(), 0
	return func() error {
		i++
		return agg.Add(reports[i%len(reports)])
	}, nil
}
