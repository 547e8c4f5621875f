package privunit

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// The search finds the best r of all.
func TestLikelyHasTheLeastError(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	for _, dim := range []int{1, 2, 650} {
		for _, k := range []int{2, 3, 7, 64, 256} {
			for _, epsilon := range []float64{0.01, 1, 3, 8, 20} {
				p, err := Point{Dim: dim, Epsilon: epsilon, Candidates: k}.Complete()
				if err != nil {
					t.Fatal(err)
				}
				least := p.mse(p.Likely)
				for r := 1; r < k; r++ {
					if mse := p.mse(r); mse < least*(1-1e-12) {
						t.Errorf("dim=%d k=%d ε=%g: %d likely candidates have the error %g, and %d have %g", dim, k, epsilon, p.Likely, least, r, mse)
					}
				}
			}
		}
	}
}

func TestParametersOutOfRangeAreRefused(t *testing.T) {
	good := fl.Round{ID: "r", Mechanism: Name, Dim: 3, Scale: 1, Epsilon: 1, MinReports: 1, PublicSeed: [32]byte{1}}
	for name, c := range map[string]struct {
		param  string
		change func(r *fl.Round)
	}{
		"no privacy":      {"epsilon", func(r *fl.Round) { r.Epsilon = math.Inf(1) }},
		"delta":           {"delta", func(r *fl.Round) { r.Delta = 1e-6 }},
		"one candidate":   {ParamCandidates, func(r *fl.Round) { r.Params = fl.Params{ParamCandidates: fl.Int(1)} }},
		"too many":        {ParamCandidates, func(r *fl.Round) { r.Params = fl.Params{ParamCandidates: fl.Int(MaxCandidates + 1)} }},
		"text":            {ParamCandidates, func(r *fl.Round) { r.Params = fl.Params{ParamCandidates: fl.Text("9")} }},
		"none likely":     {ParamLikely, func(r *fl.Round) { r.Params = fl.Params{ParamLikely: fl.Int(0)} }},
		"all likely":      {ParamLikely, func(r *fl.Round) { r.Params = fl.Params{ParamLikely: fl.Int(DefaultCandidates)} }},
		"another":         {"params", func(r *fl.Round) { r.Params = fl.Params{"sparsity": fl.Int(1)} }},
		"too large scale": {"scale", func(r *fl.Round) { r.Scale = 1e300 }},
		"too small scale": {"scale", func(r *fl.Round) { r.Scale = 1e-300 }},
	} {
		r := good
		c.change(&r)
		_, _, err := fl.Complete(r)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%s: error %v, want one about %s", name, err, c.param)
		}
	}
	if _, err := fl.Open(good); err == nil {
		t.Error("a round without parameters was opened: another program could take other defaults")
	}
	for _, p := range []Point{{Dim: 0, Epsilon: 1}, {Dim: fl.MaxDim + 1, Epsilon: 1}, {Dim: 1, Epsilon: 21}, {Dim: 1, Epsilon: math.NaN()}} {
		if _, err := p.MSE(); err == nil {
			t.Errorf("%+v has an error", p)
		}
		if _, err := p.Blanket(); err == nil {
			t.Errorf("%+v has a blanket", p)
		}
	}
}
