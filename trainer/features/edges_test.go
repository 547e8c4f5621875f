package features

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// picture has the grey values of its rows, in eighths.
func picture(rows ...string) (values []float64) {
	for _, r := range rows {
		for _, c := range r {
			values = append(values, float64(c-'0')/8)
		}
	}
	return values
}

// apply returns the vector of x.
func apply(f Features, x []float64) []float64 {
	out := slices.Repeat([]float64{math.NaN()}, f.Dim()) // whatever was there before
	f.Apply(out, x)
	return out
}

func near(a, b []float64, tolerance float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= tolerance })
}

func must[F Features](t *testing.T) func(F, error) F {
	return func(f F, err error) F {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
}

// Each direction has a channel of its own, the same for a dark and a bright side.
func TestEdgesTellDirections(t *testing.T) {
	f := must[Features](t)(Edges(4, 4, 2))
	if f.Inputs() != 16 || f.Dim() != 16 || f.String() != "edges of 2×2 pixels" {
		t.Fatalf("%v: from %d values to %d", f, f.Inputs(), f.Dim())
	}
	for name, c := range map[string]struct {
		x    []float64
		want [4]float64 // sums over the squares
	}{
		"flat":            {picture("3333", "3333", "3333", "3333"), [4]float64{}},
		"vertical":        {picture("0088", "0088", "0088", "0088"), [4]float64{4 * .5 / 4, 0, 0, 0}},
		"vertical, other": {picture("8800", "8800", "8800", "8800"), [4]float64{4 * .5 / 4, 0, 0, 0}},
		"horizontal":      {picture("0000", "0000", "8888", "8888"), [4]float64{0, 4 * .5 / 4, 0, 0}},
		// x = y = 1/8 at every pixel: r = √2/8, 2φ = 90°.
		"diagonal": {picture("0123", "1234", "2345", "3456"), [4]float64{0, 0, 4 * math.Sqrt2 / 8 / 4, 0}},
		"other":    {picture("3210", "4321", "5432", "6543"), [4]float64{0, 0, 0, 4 * math.Sqrt2 / 8 / 4}},
	} {
		got := apply(f, c.x)
		for k, want := range c.want {
			var sum float64
			for _, v := range got[4*k : 4*k+4] {
				sum += v
			}
			if math.Abs(sum-want) > 1e-12 {
				t.Errorf("%s: channel %d has %g, want %g", name, k, sum, want)
			}
		}
	}
}

func TestEdgesStayInTheirSquare(t *testing.T) {
	f := must[Features](t)(Edges(4, 4, 2))
	corner := apply(f, picture("0000", "0000", "0000", "0008")) // seen from (2,3) and from (3,2) alone: border
	if slices.ContainsFunc(corner, func(v float64) bool { return v != 0 }) {
		t.Errorf("the border counts: %v", corner)
	}
	// The neighbours (2,1) and (1,2) of a dot see a vertical and a horizontal edge.
	want := make([]float64, 16)
	want[2], want[4+1] = .5/4, .5/4
	if got := apply(f, picture("0000", "0000", "0080", "0000")); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// More columns than rows: the second square of the first row.
	wide := must[Features](t)(Edges(4, 8, 4))
	if got := apply(wide, picture("00000000", "00000000", "00000080", "00000000")); got[1] == 0 || got[0] != 0 {
		t.Errorf("4×8 pixels: %v", got)
	}
}

func TestGrey(t *testing.T) {
	for _, c := range []struct {
		rows, cols, block int
		x, want           []float64
	}{
		{4, 4, 2, picture("0844", "8044", "0088", "0888"), []float64{.5, .5, .25, 1}},
		{2, 4, 2, picture("0822", "0822"), []float64{.5, .25}},
		{4, 2, 2, picture("08", "08", "22", "22"), []float64{.5, .25}},
		{2, 2, 1, picture("12", "34"), picture("12", "34")},
	} {
		f := must[Picture](t)(Grey(c.rows, c.cols, c.block))
		rows, cols := f.Size()
		if got := apply(f, c.x); !slices.Equal(got, c.want) || rows != c.rows/c.block || cols != c.cols/c.block || f.Dim() != rows*cols {
			t.Errorf("%d×%d in squares of %d: %d×%d, %v, want %v", c.rows, c.cols, c.block, rows, cols, got, c.want)
		}
	}
}

func TestIdentity(t *testing.T) {
	f := must[Features](t)(Identity(3))
	if got := apply(f, []float64{1, -2, 3}); !slices.Equal(got, []float64{1, -2, 3}) || f.Inputs() != 3 || f.Dim() != 3 {
		t.Errorf("%v", got)
	}
}

func TestMapsRefuse(t *testing.T) {
	for want, f := range map[string]func() (Features, error){
		"block: got 0":          func() (Features, error) { return Edges(4, 4, 0) },
		"block: got 3":          func() (Features, error) { return Edges(4, 3, 3) },
		"block: got 2":          func() (Features, error) { return Grey(2, 3, 2) },
		"rows: got 0":           func() (Features, error) { return Grey(0, 4, 1) },
		"cols: got 4097":        func() (Features, error) { return Edges(4, 4097, 1) },
		"rows: got 10":          func() (Features, error) { return Scatter(10, 8) },
		"rows: got 4, ":         func() (Features, error) { return Scatter(4, 8) },
		"cols: got 260":         func() (Features, error) { return Scatter(8, 260) },
		"inputs: got 0":         func() (Features, error) { return Identity(0) },
		"inputs: got 16777217":  func() (Features, error) { return Identity(1<<24 + 1) },
		"features: grey: rows:": func() (Features, error) { return Grey(-1, 4, 1) },
	} {
		if got, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, error %v, want one with %q", got, err, want)
		}
	}
}

// A wrong length is a mistake of the program, which no value may hide.
func TestApplyPanicsForWrongLengths(t *testing.T) {
	edges := must[Features](t)(Edges(4, 4, 2))
	for _, f := range []Features{
		edges, must[Picture](t)(Grey(4, 4, 2)), must[Features](t)(Identity(16)),
		must[*Pipeline](t)(NewPipeline(edges, Parts{Components: [][]float64{make([]float64, 16)}})), must[Features](t)(Scatter(8, 8)),
		must[*Pipeline](t)(NewPipeline(edges, Parts{Bias: 1})),
	} {
		for _, c := range []struct{ dst, x int }{{f.Dim() - 1, f.Inputs()}, {f.Dim() + 1, f.Inputs()}, {f.Dim(), f.Inputs() - 1}, {f.Dim(), f.Inputs() + 1}} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v takes %d values into %d", f, c.x, c.dst)
					}
				}()
				f.Apply(make([]float64, c.dst), make([]float64, c.x))
			}()
		}
	}
}
