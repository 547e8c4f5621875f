package features

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestPipelineAppliesItsPartsInOrder(t *testing.T) {
	three := must[Features](t)(Identity(3))
	half := math.Sqrt(.5)
	for name, c := range map[string]struct {
		parts Parts
		x     []float64
		want  []float64
	}{
		"nothing":               {Parts{}, []float64{1, 2, 3}, []float64{1, 2, 3}},
		"mean":                  {Parts{Mean: []float64{1, 1, -1}}, []float64{1, 2, 3}, []float64{0, 1, 4}},
		"scale":                 {Parts{Scale: []float64{1, 2, 3}}, []float64{1, 2, 3}, []float64{1, 4, 9}},
		"scale, then mean":      {Parts{Scale: []float64{1, 2, 3}, Mean: []float64{1, 1, 1}}, []float64{1, 2, 3}, []float64{0, 3, 8}},
		"logarithm":             {Parts{Logarithm: []float64{1, 2, 1}}, []float64{math.E - 1, 2 - 2*math.E, 0}, []float64{1, -1, 0}},
		"logarithm, then scale": {Parts{Logarithm: []float64{1, 2, 1}, Scale: []float64{5, 3, 1}, Mean: []float64{1, 1, 1}}, []float64{math.E - 1, 2 - 2*math.E, 0}, []float64{4, -4, -1}},
		"norm":                  {Parts{Bias: 1}, []float64{3, 0, -4}, []float64{.6, 0, -.8}},
		"bias":                  {Parts{Bias: .25}, []float64{3, 0, -4}, []float64{2.4, 0, -3.2}},
		"zeros":                 {Parts{Bias: .25}, []float64{0, 0, 0}, []float64{0, 0, 0}},
		"the mean itself":       {Parts{Mean: []float64{1, 2, 3}, Bias: 1}, []float64{1, 2, 3}, []float64{0, 0, 0}},
		"components":            {Parts{Components: [][]float64{{0, 0, 2}, {half, -half, 0}}}, []float64{3, 1, 5}, []float64{10, 2 * half}},
		"components, and mean":  {Parts{Mean: []float64{1, 1, 1}, Components: [][]float64{{0, 1, 0}, {0, 0, 1}}}, []float64{9, 4, 5}, []float64{3, 4}},
		"all":                   {Parts{Scale: []float64{7, 2, 1}, Mean: []float64{1, 5, 1}, Components: [][]float64{{0, 1, 0}, {0, 0, 1}}, Bias: .5}, []float64{9, 4, 5}, []float64{1.2, 1.6}},
	} {
		p := must[*Pipeline](t)(NewPipeline(three, c.parts))
		if got := apply(p, c.x); !near(got, c.want, 1e-14) || p.Inputs() != 3 {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestCentred(t *testing.T) {
	three := must[Features](t)(Identity(3))
	for want, parts := range map[bool][]Parts{
		true:  {{Mean: []float64{1, 2, 3}, Bias: 1}, {Mean: []float64{1, 2, 3}, Components: [][]float64{{1, 0, 0}}, Bias: .3}},
		false: {{}, {Mean: []float64{1, 2, 3}}, {Bias: 1}, {Components: [][]float64{{1, 0, 0}}, Bias: .3}},
	} {
		for _, p := range parts {
			if f := must[*Pipeline](t)(NewPipeline(three, p)); Centred(f) != want {
				t.Errorf("%v is centred: %v, want %v", f, !want, want)
			}
		}
	}
	if Centred(three) {
		t.Error("examples as they are, centred")
	}
}

// The demo's unit edges have the same bits as v/√(Σv²), so that results can be repeated.
func TestBiasOneDividesByTheNorm(t *testing.T) {
	p := must[*Pipeline](t)(NewPipeline(must[Features](t)(Identity(3)), Parts{Bias: 1}))
	x := []float64{.1, .7, -.3}
	scale := 1 / math.Sqrt(x[0]*x[0]+x[1]*x[1]+x[2]*x[2])
	if got := apply(p, x); !slices.Equal(got, []float64{x[0] * scale, x[1] * scale, x[2] * scale}) {
		t.Errorf("got %v", got)
	}
}

func TestNewPipelineRefuses(t *testing.T) {
	three := must[Features](t)(Identity(3))
	for want, parts := range map[string]Parts{
		"mean: got 2":              {Mean: []float64{1, 2}},
		"mean: got \"NaN or":       {Mean: []float64{1, 2, math.NaN()}},
		"scale: got 4":             {Scale: []float64{1, 2, 3, 4}},
		"scale: got \"NaN or":      {Scale: []float64{1, 2, math.Inf(1)}},
		"logarithm: got 1":         {Logarithm: []float64{1}},
		"logarithm: got \"a value": {Logarithm: []float64{1, 0, 1}},
		"components: got 4":        {Components: make([][]float64, 4)},
		"components[1]: got \"2 ":  {Components: [][]float64{{1, 0, 0}, {1, 2}}},
		"components[0]: got \"3 ":  {Components: [][]float64{{1, 0, math.Inf(-1)}}},
		"bias: got -1":             {Bias: -1},
		"bias: got NaN":            {Bias: math.NaN()},
		"bias: got 0.001":          {Bias: 0.001},
	} {
		if p, err := NewPipeline(three, parts); p != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, error %v, want one with %q", p, err, want)
		}
	}
}

// A pipeline keeps nothing of its caller's, and its digest depends on every part.
func TestDigestsCoverEverything(t *testing.T) {
	parts := func() Parts {
		return Parts{Mean: []float64{1, 2, 3}, Components: [][]float64{{1, 0, 0}, {0, 1, 0}}, Bias: .5}
	}
	identity := func(n int) Features { return must[Features](t)(Identity(n)) }
	seen := map[[32]byte]string{}
	add := func(what string, f Features) {
		t.Helper()
		if other, ok := seen[f.Digest()]; ok {
			t.Errorf("%s has the digest of %s", what, other)
		}
		seen[f.Digest()] = what
	}
	pipeline := func(what string, backbone Features, change func(*Parts)) {
		t.Helper()
		p := parts()
		change(&p)
		add(what, must[*Pipeline](t)(NewPipeline(backbone, p)))
	}
	add("3 values", identity(3))
	add("16 values", identity(16))
	add("edges", must[Features](t)(Edges(4, 4, 2)))
	add("edges of 1×1", must[Features](t)(Edges(4, 4, 1)))
	add("edges of 2×8", must[Features](t)(Edges(2, 8, 2)))
	add("edges of 8×2", must[Features](t)(Edges(8, 2, 2)))
	add("grey", must[Picture](t)(Grey(4, 4, 2)))
	add("scatter", must[Features](t)(Scatter(8, 8)))
	add("scatter of 8×12", must[Features](t)(Scatter(8, 12)))
	pipeline("parts", identity(3), func(*Parts) {})
	pipeline("scale", identity(3), func(p *Parts) { p.Scale = []float64{1, 1, 1} })
	pipeline("logarithm", identity(3), func(p *Parts) { p.Logarithm = []float64{1, 1, 1} })
	pipeline("mean", identity(3), func(p *Parts) { p.Mean[2] = 4 })
	pipeline("no mean", identity(3), func(p *Parts) { p.Mean = nil })
	pipeline("component", identity(3), func(p *Parts) { p.Components[1][2] = 1e-9 })
	pipeline("one component", identity(3), func(p *Parts) { p.Components = p.Components[:1] })
	pipeline("no components", identity(3), func(p *Parts) { p.Components = nil })
	pipeline("bias", identity(3), func(p *Parts) { p.Bias = .25 })
	add("backbone", must[*Pipeline](t)(NewPipeline(must[Picture](t)(Grey(1, 3, 1)), parts())))

	logs := []float64{1, 1, 1}
	logged := must[*Pipeline](t)(NewPipeline(identity(3), Parts{Logarithm: logs}))
	logs[0] = 7
	if got := apply(logged, []float64{math.E - 1, 0, 0}); math.Abs(got[0]-1) > 1e-14 {
		t.Errorf("a change of the caller's logarithm gives %v", got)
	}
	one := Parts{Mean: []float64{1, 2, 3}, Scale: []float64{1, 1, 1}}
	centred := must[*Pipeline](t)(NewPipeline(identity(3), one))
	one.Mean[0], one.Scale[1] = 7, 7
	if got := apply(centred, []float64{4, 5, 6}); !slices.Equal(got, []float64{3, 3, 3}) {
		t.Errorf("a change of the caller's mean or scale gives %v", got)
	}
	mine := parts()
	p := must[*Pipeline](t)(NewPipeline(identity(3), mine))
	before := apply(p, []float64{4, 5, 6})
	mine.Mean[0], mine.Components[0][0] = 7, 7
	if got := apply(p, []float64{4, 5, 6}); !slices.Equal(got, before) {
		t.Errorf("a change of the caller's parts gives %v, before %v", got, before)
	}
	if want := "the values as they are, minus a public mean, 2 public components, norm 2"; p.String() != want {
		t.Errorf("%v, want %s", p, want)
	}
}
