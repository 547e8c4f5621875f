// Package speed measures what a report of a sparse mechanism costs its client and the server, and what
// else takes time. Use it to size a server, and to see what a change does. Start with
// go run ./bench speed, or with --base REVISION beside the state of another revision.
package speed

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/speed/probe"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// Experiments returns the experiments of the package.
func Experiments() []experiment.Experiment {
	return append([]experiment.Experiment{{
		Name:    "speed",
		Title:   "Times of reports, rounds, plans and accounting, beside what is aimed at",
		Source:  "The cost of a report in Wang et al. is one scan of all coordinates. The aims are this module's",
		Without: []string{experiment.FlagData, experiment.FlagSeed},
		Bind: func(f *flag.FlagSet) experiment.Run {
			s := setting{}
			f.StringVar(&s.base, "base", "", "`revision` of the checkout that is built and measured beside this one, by the same code; empty: none")
			return s.run
		},
	}, sums, shares, dense}, experiment.ForMaintainers.All(instructions, parts)...)
}

// setting is what the flags say.
type setting struct{ base string }

// side does the works of one revision.
type side interface {
	measure(ctx context.Context, w probe.Work) (map[string]float64, error)
	size() (map[string]float64, error)
	demo(ctx context.Context) (map[string]float64, error)
}

// here measures in this process. It knows nothing of programs.
type here struct{}

func (here) measure(ctx context.Context, w probe.Work) (map[string]float64, error) {
	return probe.Measure(ctx, w)
}
func (here) size() (map[string]float64, error)                { return nil, nil }
func (here) demo(context.Context) (map[string]float64, error) { return nil, nil }

func (s *setting) run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	root, err := checkout(ctx)
	switch {
	case err != nil:
		return nil, err
	case s.base != "" && env.Quick:
		return nil, fl.Invalid("--base", s.base, "must not be given with --quick")
	case s.base != "" && root == "":
		return nil, fl.Invalid("--base", s.base, "must be given within a checkout of the module only")
	}
	sides, repeats := []side{here{}}, 1
	if root != "" && !env.Quick {
		dir, err := os.MkdirTemp("", "hushgrad-speed")
		if err != nil {
			return nil, err
		}
		defer remove(dir)
		trees, err := s.build(ctx, env, root, dir, "probe", "hushgrad", "demo")
		if err != nil {
			return nil, err
		}
		sides = nil
		for _, t := range trees {
			sides = append(sides, t)
		}
		repeats = 5
	}
	return table(ctx, env, rows(env.Quick), sides, env.RepeatsOr(repeats))
}

// build builds programs of this revision and of the base.
func (s *setting) build(ctx context.Context, env experiment.Env, root, dir string, programs ...string) ([]*tree, error) {
	env.Progress.Describe("building")
	trees := []*tree{{source: root, programs: filepath.Join(dir, "today")}}
	if s.base != "" {
		base := &tree{source: filepath.Join(dir, "base", "source"), programs: filepath.Join(dir, "base", "programs")}
		if err := extract(ctx, root, s.base, base.source); err != nil {
			return nil, err
		}
		trees = append(trees, base)
	}
	for _, t := range trees {
		if err := t.build(ctx, programs...); err != nil {
			return nil, err
		}
	}
	return trees, nil
}

// table measures all rows, on one side after the other in each repeat.
func table(ctx context.Context, env experiment.Env, rows []row, sides []side, repeats int) (*experiment.Result, error) {
	r := &experiment.Result{
		Columns: []string{"operation", "hash", "dim", "sparsity", "epsilon", "unit", "median", "aim", "base", "ratio"},
		Notes: []string{
			"Of reports, what is paid once per round is left out: tables of the client, and one transform of the server.",
			"The memory of a client is all that it allocates, in gradients of float64. The memory of a round is the memory in use when 10000 reports are in and after an estimate.",
			"A cold test run is left out: GOCACHE=$(mktemp -d) go test ./... with time before it measures it.",
		},
	}
	if _, inside := sides[0].(here); inside {
		r.Notes = append(r.Notes, "All was measured in one process, without what takes a build in the checkout.")
	} else {
		r.Notes = append(r.Notes, fmt.Sprintf("median is the median of %d repeats, at most three of the demo, each in a process of its own.", repeats))
	}
	if len(sides) > 1 {
		r.Notes = append(r.Notes, "base is the median of the other revision, measured in turn with this one. ratio is median over base.")
	}
	env.Progress.Describe("speed")
	env.Progress.Grow(len(rows))
	var last probe.Work
	var got []map[string][]float64
	for i, w := range rows {
		if i == 0 || w.Work != last || w.Kind == "" {
			var err error
			if got, err = repeated(ctx, w, sides, repeats); err != nil {
				return nil, fmt.Errorf("%s: %w", w.quantity, err)
			}
			last = w.Work
		}
		w.report(r, got)
		env.Progress.Step()
	}
	r.Plot = &figure.Figure{Title: "Time of a report of CoCo on the server", Panels: []figure.Panel{panel(r)}}
	return r, nil
}

// repeated does a row's work on all sides in turn, and returns the values of each side by quantity.
func repeated(ctx context.Context, w row, sides []side, repeats int) ([]map[string][]float64, error) {
	if w.quantity == demoTime {
		repeats = min(repeats, 3) // of half a minute each
	}
	out := make([]map[string][]float64, len(sides))
	for range repeats {
		for i, s := range sides {
			var got map[string]float64
			var err error
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case w.quantity == binarySize:
				got, err = s.size()
			case w.quantity == demoTime:
				got, err = s.demo(ctx)
			default:
				got, err = s.measure(ctx, w.Work)
			}
			if err != nil {
				return nil, err
			}
			if out[i] == nil {
				out[i] = map[string][]float64{}
			}
			for name, v := range got {
				out[i][name] = append(out[i][name], v)
			}
		}
	}
	return out, nil
}

// report adds a row with the medians, and a verdict where there is an aim. got are the values of this
// revision and, if there is one, of the base.
func (w row) report(r *experiment.Result, got []map[string][]float64) {
	values := got[0][w.quantity]
	if len(values) == 0 {
		return
	}
	slices.Sort(values)
	now := median(values) * w.scale
	cells := experiment.Row{w.quantity, nil, nil, nil, nil, w.unit, now, nil, nil, nil}
	what := w.quantity
	if w.Hash != "" {
		cells[1], cells[2], cells[3], cells[4] = w.Hash, w.Dim, w.Sparsity, w.Epsilon
		what = fmt.Sprintf("%s, %s, d = %d, s = %d, ε = %g", what, w.Hash, w.Dim, w.Sparsity, w.Epsilon)
	}
	detail := ""
	if len(got) > 1 {
		slices.Sort(got[1][w.quantity])
		base := median(got[1][w.quantity]) * w.scale
		cells[8], cells[9] = base, now/base
		detail = fmt.Sprintf("base %.3g %s, ratio %.3g", base, w.unit, now/base)
	}
	if w.aim > 0 {
		cells[7] = w.aim
		bound, holds := "at most", now <= w.aim
		if w.atLeast {
			bound, holds = "at least", now >= w.aim
		}
		r.Verdicts = append(r.Verdicts, experiment.Verdict{
			Claim: fmt.Sprintf("%s: %s %g %s", what, bound, w.aim, w.unit), Holds: holds,
			Ours:   fmt.Sprintf("%.3g %s, from %.3g to %.3g", now, w.unit, values[0]*w.scale, values[len(values)-1]*w.scale),
			Detail: detail,
		})
	}
	r.Rows = append(r.Rows, cells)
}

// median returns the median of sorted values, and NaN of none.
func median(sorted []float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// panel shows the time of a report on the server.
func panel(r *experiment.Result) figure.Panel {
	p := figure.Panel{XLabel: "coordinates, d", YLabel: "nanoseconds per report on the server", LogX: true, LogY: true}
	for _, row := range r.Rows {
		if row[0] != probe.Decode {
			continue
		}
		name := fmt.Sprintf("%s, s = %d, ε = %g", row[1], row[3], row[4])
		i := slices.IndexFunc(p.Series, func(s figure.Series) bool { return s.Name == name })
		if i < 0 {
			i = len(p.Series)
			p.Series = append(p.Series, figure.Series{Name: name, Style: figure.LinePoints})
		}
		s := &p.Series[i]
		s.X, s.Y = append(s.X, float64(cmp.Or(row[2].(int), 1))), append(s.Y, row[6].(float64))
	}
	return p
}
