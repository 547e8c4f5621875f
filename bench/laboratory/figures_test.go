package laboratory

import (
	"flag"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/figure/paint"

	"github.com/hushgrad/hushgrad/bench/demands"
	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/keyvalues"
	"github.com/hushgrad/hushgrad/bench/shufflesum"
	"github.com/hushgrad/hushgrad/bench/vectors"
	"github.com/hushgrad/hushgrad/internal/figure"
)

var long = flag.Bool("long", false, "draw the figures of all experiments, with as many clients as a quick run has")

// slow are the experiments that -long adds: table4-hetero draws what table5-hetero draws, and fig10-pckv
// what the other sweeps draw, both of more data.
var slow = []string{"table4-hetero", "fig10-pckv"}

// drawn are the experiments that need no training, which takes minutes.
var drawn = slices.Concat(shufflesum.Experiments(), vectors.Experiments(), keyvalues.Experiments(), demands.Experiments())

// Every picture can be read alone: its axes have titles in words, every series that was
// measured has error bars, the legend and the notes say what these are, and no two series
// look alike.
func TestFiguresCanBeRead(t *testing.T) {
	if testing.Short() {
		t.Skip("runs all experiments")
	}
	for _, e := range drawn {
		if e.PartOf != "" {
			continue // the whole has its panels
		}
		t.Run(e.Name, func(t *testing.T) {
			if !*long && slices.Contains(slow, e.Name) {
				t.Skip("runs with -long")
			}
			t.Parallel()
			var args []string
			if !*long && e.Name == "figs6-16" {
				args = append(args, "--clients=300")
			}
			for flag, value := range map[string]string{experiment.FlagQuick: "true", experiment.FlagRepeats: "3"} {
				if !slices.Contains(e.Without, flag) {
					args = append(args, "--"+flag+"="+value)
				}
			}
			b, err := commandOf().parse(e, append(args, "--jobs=1"), io.Discard, false)
			if err != nil {
				t.Fatal(err)
			}
			r, err := b.run(t.Context(), b.env)
			if err != nil {
				t.Fatal(err)
			}
			if r.Plot == nil && e.Kind == experiment.Ours { // a table of the reader's numbers
				return
			}
			if err := paint.Validate(r.Plot); err != nil { // two series that look alike, among others
				t.Error(err)
			}
			repeated := !slices.Contains(e.Without, experiment.FlagRepeats)
			if explained := strings.Contains(r.Plot.ErrorBars, "95 %") && strings.Contains(strings.Join(r.Notes, " "), "95 % interval"); explained != repeated {
				t.Errorf("repeats: %v, error bars in the legend %q, notes %q", repeated, r.Plot.ErrorBars, r.Notes)
			}
			for i, panel := range r.Plot.Panels {
				for _, problem := range unreadable(panel, r.Columns, repeated) {
					t.Errorf("panel %d, %q: %s", i, panel.Title, problem)
				}
			}
		})
	}
}

// unreadable says what a reader of a panel misses.
func unreadable(p figure.Panel, columns []string, repeated bool) (problems []string) {
	for axis, title := range map[string]string{"x": p.XLabel, "y": p.YLabel} {
		if title == "" && (axis == "y" || len(p.Categories) == 0) || strings.Contains(title, "_") || slices.Contains(columns, title) {
			problems = append(problems, "the title of the axis "+axis+" is "+title)
		}
	}
	for _, s := range p.Series {
		reference := s.Of != "" || s.Style == figure.Dashed || strings.HasPrefix(s.Name, "the paper's")
		if bars := s.YLow != nil; bars != (repeated && !reference) {
			problems = append(problems, "wrong about error bars: "+s.Name)
			continue
		}
		wide := 0
		for i := range s.YLow {
			if s.YLow[i] < s.YHigh[i] && s.YLow[i] <= s.Y[i] && s.Y[i] <= s.YHigh[i] {
				wide++
			}
		}
		// Repeats may agree: protocols send a fixed number of messages.
		if s.YLow != nil && wide == 0 && !strings.HasPrefix(p.YLabel, "messages") {
			problems = append(problems, "error bars of no length: "+s.Name)
		}
	}
	return problems
}

func TestWhatCannotBeReadIsFound(t *testing.T) {
	one := []float64{1}
	for name, p := range map[string]figure.Panel{
		"no title":         {XLabel: "ε"},
		"a column's name":  {XLabel: "ε", YLabel: "mse"},
		"an underscore":    {XLabel: "epsilon_local", YLabel: "error"},
		"no error bars":    {XLabel: "ε", YLabel: "error", Series: []figure.Series{{X: one, Y: one}}},
		"of no length":     {XLabel: "ε", YLabel: "error", Series: []figure.Series{{X: one, Y: one, YLow: one, YHigh: one}}},
		"bars of a theory": {XLabel: "ε", YLabel: "error", Series: []figure.Series{{X: one, Y: one, YLow: one, YHigh: one, Style: figure.Dashed}}},
	} {
		if got := unreadable(p, []string{"mse"}, true); len(got) != 1 {
			t.Errorf("%s: %q", name, got)
		}
	}
}
