package vectors

import (
	"errors"
	"math"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/privacy"
)

// flagged runs an experiment with flags.
func flagged(t *testing.T, name string, args ...string) (*experiment.Result, error) {
	t.Helper()
	for _, e := range Experiments() {
		if e.Name == name {
			f := flag.NewFlagSet(name, flag.ContinueOnError)
			run := e.Bind(f)
			if err := command.Parse(f, args); err != nil {
				t.Fatal(err)
			}
			return run(t.Context(), experiment.Env{Quick: true, Jobs: 2, Seed: 1})
		}
	}
	t.Fatalf("there is no %s", name)
	return nil, nil
}

// A mechanism of one's own is drawn with the bound that it states, and nothing says that it is proved.
func TestAmplificationOfAMechanismOfOnesOwn(t *testing.T) {
	const own = "collision:sparsity=s,slots=200,hash=ideal"
	r, err := flagged(t, "fig2", "--with", own)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, row := range r.Rows {
		if row[3] != own {
			continue
		}
		rows++
		b, err := privacy.NewBlanket(row[2].(float64), row[0].(int), 200)
		if err != nil {
			t.Fatal(err)
		}
		want, err := b.Epsilon(row[1].(int), 1e-6)
		if got := row[5].(float64); err != nil || math.Abs(got/want-1) > 1e-12 || row[4] == string(privacy.Proved) {
			t.Errorf("%v, want ε = %g, %v", row, want, err)
		}
	}
	if rows != 12 {
		t.Errorf("%d rows", rows)
	}
	for _, p := range r.Plot.Panels {
		for _, s := range p.Series {
			if s.Name == own+" (as it states)" && s.Style != figure.Dashed {
				t.Errorf("%s has the style %d", s.Name, s.Style)
			}
		}
	}
	_, err = flagged(t, "fig2", "--with", "tiers")
	var wrong *fl.ParamError
	if !errors.As(err, &wrong) {
		t.Errorf("a mechanism without parameters: %v", err)
	}
}

// The bounds by hand, d = 100, s = 4 and n = 25 with e^ε = 3: 100·4/(64·25·4) and 100·2/(8·2·5), and where ε is so small that s decides.
func TestMinimaxBounds(t *testing.T) {
	epsilon := math.Log(3)
	for _, c := range []struct{ got, want float64 }{
		{MinimaxSquare(100, 4, 25, epsilon), 0.04}, {MinimaxSquare(100, 4, 100, epsilon), 0.015625},
		{MinimaxVariation(100, 4, 25, epsilon), 2}, {MinimaxVariation(100, 4, 100, epsilon), 1.25},
		{MinimaxSquare(100, 4, 25, 1e-9), 0.04}, {MinimaxVariation(100, 4, 25, 1e-9), 2},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%g, want %g", c.got, c.want)
		}
	}
	r, err := flagged(t, "minimax", "--dim", "64", "--sparsity", "4", "--clients", "1000", "--epsilon", "2")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	bound := map[float64]float64{}
	for _, row := range r.Rows {
		switch epsilon, value := row[1].(float64), row[3].(float64); {
		case row[0] != "squared":
		case row[2] == "lower bound":
			bound[epsilon] = value
		case value < bound[epsilon]:
			t.Errorf("%v is below the bound %g", row, bound[epsilon])
		}
	}
	if len(bound) != minimaxPoints {
		t.Errorf("%d bounds", len(bound))
	}
	if _, err := flagged(t, "minimax", "--clients", "0"); err == nil {
		t.Error("no error for no clients")
	}
}
