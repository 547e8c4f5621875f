package sparse

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// The search on errors made up for it: optima at both ends and in the middle,
// two equal optima, a flat error and one that ends in NaN.
func TestBestSlotsOnSyntheticErrors(t *testing.T) {
	toward := func(best float64) func(float64) float64 {
		return func(slots float64) float64 { return math.Abs(slots - best) }
	}
	for name, c := range map[string]struct {
		hash   string
		layout Layout
		low    int
		mse    func(slots float64) float64
		want   int
	}{
		"first":           {"ideal", Separate, 7, toward(0), 7},
		"first, pairs":    {"ideal", Paired, 7, toward(0), 8},
		"second":          {"ideal", Separate, 7, toward(8), 8},
		"middle":          {"ideal", Separate, 7, toward(123457), 123457},
		"middle, pairs":   {"ideal", Paired, 6, toward(123458), 123458},
		"last but one":    {"ideal", Separate, 7, toward(MaxSlots - 1), MaxSlots - 1},
		"last":            {"ideal", Separate, 7, toward(1e12), MaxSlots},
		"last, pairs":     {"ideal", Paired, 6, toward(1e12), MaxSlots},
		"tie":             {"ideal", Separate, 2, toward(1000.5), 1000},
		"tie, pairs":      {"ideal", Paired, 2, toward(1001), 1000},
		"tie at the end":  {"ideal", Separate, 2, toward(MaxSlots - 0.5), MaxSlots - 1},
		"flat":            {"ideal", Separate, 9, func(float64) float64 { return 1 }, 9},
		"NaN tail":        {"ideal", Separate, 2, nanFrom(100, toward(50)), 50},
		"NaN from second": {"ideal", Separate, 2, nanFrom(3, toward(50)), 2},
		"only NaN":        {"ideal", Separate, 2, nanFrom(0, toward(50)), 2},
		// 1000 coordinates and 4 dummies: 2^10 cells of two slots, or 2^11 slots.
		"gf2 first":       {"gf2", Paired, 6, toward(0), 8},
		"gf2 middle":      {"gf2", Paired, 6, toward(257), 256},
		"gf2 tie":         {"gf2", Paired, 6, toward(192), 128},
		"gf2 last":        {"gf2", Paired, 6, toward(1e12), 2048},
		"gf2 last single": {"gf2", Separate, 6, toward(1e12), 2048},
		"gf2 NaN tail":    {"gf2", Paired, 6, nanFrom(100, toward(1e12)), 64},
	} {
		got, err := search(Point{Dim: 1000, Sparsity: 4, Epsilon: 1, Hash: c.hash, Slots: 77}, c.layout, c.low, func(p Point) (float64, error) {
			if p.Dim != 1000 || p.Sparsity != 4 || p.Epsilon != 1 || p.Hash != c.hash {
				t.Fatalf("%s: asked for the error at %+v", name, p)
			}
			return c.mse(float64(p.Slots)), nil
		})
		if err != nil || got != c.want {
			t.Errorf("%s: got %d slots, %v, want %d", name, got, err, c.want)
		}
	}
}

func nanFrom(first float64, f func(float64) float64) func(float64) float64 {
	return func(slots float64) float64 {
		if slots >= first {
			return math.NaN()
		}
		return f(slots)
	}
}

func TestSearchPassesErrorsOn(t *testing.T) {
	failure := errors.New("no error there")
	_, err := search(Point{Dim: 10, Sparsity: 4, Epsilon: 1, Hash: "ideal"}, Paired, 8, func(p Point) (float64, error) {
		return 0, failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("error %v, want the one of the evaluation", err)
	}
	var p *fl.ParamError
	never := func(Point) (float64, error) { return 0, nil }
	if _, err := search(Point{Dim: 4, Sparsity: 4, Epsilon: 1, Hash: "gf2"}, Paired, 40, never); !errors.As(err, &p) || p.Param != ParamSparsity {
		t.Errorf("no number of slots: error %v, want a ParamError for the sparsity", err)
	}
}

func TestCheckShapeAtItsLimits(t *testing.T) {
	for _, c := range []struct {
		dim, sparsity int
		param         string // "" means allowed
	}{
		{1, 1, ""}, {fl.MaxDim, MaxSparsity, ""}, {MaxSparsity, MaxSparsity, ""},
		{fl.MaxDim, MaxSparsity + 1, ParamSparsity}, {fl.MaxDim + 1, 1, "dim"}, {0, 1, "dim"},
		{5, 6, ParamSparsity}, {5, 0, ParamSparsity},
	} {
		err := CheckShape(c.dim, c.sparsity)
		var p *fl.ParamError
		if c.param == "" && err != nil || c.param != "" && (!errors.As(err, &p) || p.Param != c.param) {
			t.Errorf("CheckShape(%d, %d): error %v, want one about %q", c.dim, c.sparsity, err, c.param)
		}
	}
}
