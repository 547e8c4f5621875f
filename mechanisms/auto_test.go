package mechanisms

import (
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
)

// The choice is never worse than any of the three, and each of them is chosen
// somewhere or shown to be beaten everywhere.
func TestTheChoiceIsNeverWorse(t *testing.T) {
	chosen := map[string]int{}
	for _, dim := range []int{100, 7850, 1 << 20} {
		for _, s := range []int{1, 2, 4, 8, 31, 64} {
			for _, eps := range []float64{0.05, 0.2, 0.5, 1, 1.5, 2, 3, 5, 8} {
				p := sparse.Point{Dim: dim, Sparsity: s, Epsilon: eps, Hash: "gf2"}
				mse := map[string]float64{}
				for _, scheme := range []*sparse.Scheme{coco.Scheme, collision.Scheme, signsketch.Scheme} {
					v, err := scheme.LeastMSE(p)
					if err != nil {
						t.Fatal(err)
					}
					mse[scheme.Name()] = v
				}
				best, err := Best(p)
				if err != nil {
					t.Fatal(err)
				}
				got := best.Name()
				chosen[got]++
				for name, v := range mse {
					if v < mse[got] {
						t.Errorf("%+v: chose %s with MSE %g, %s has %g", p, got, mse[got], name, v)
					}
				}
			}
		}
	}
	t.Log(chosen)
	if chosen[coco.Name] == 0 || chosen[signsketch.Name] == 0 {
		t.Errorf("chosen: %v", chosen)
	}
}

func TestCompleteNamesTheMechanism(t *testing.T) {
	r := fl.Round{
		ID: "r", Mechanism: Auto, Dim: 7850, Scale: 1, Epsilon: 0.5, MinReports: 1, PublicSeed: [32]byte{1},
		Params: fl.Params{"sparsity": fl.Int(64)},
	}
	for eps, want := range map[float64]string{0.5: signsketch.Name, 5: coco.Name} {
		r.Epsilon = eps
		done, m, err := fl.Complete(r)
		if err != nil || done.Mechanism != want {
			t.Fatalf("ε=%g: completed to %q, %v, want %q", eps, done.Mechanism, err, want)
		}
		if m.Guarantee().Epsilon != eps {
			t.Errorf("ε=%g: %v", eps, m.Guarantee())
		}
	}
	frequencies := r // which signsketch does not estimate
	frequencies.Epsilon, frequencies.Columns = 0.5, []string{fl.ColumnFrequency}
	if done, _, err := fl.Complete(frequencies); err != nil || done.Mechanism == signsketch.Name {
		t.Errorf("with frequencies: completed to %q, %v", done.Mechanism, err)
	}
	var p *fl.ParamError
	if _, err := fl.Open(fl.Round{
		ID: "r", Mechanism: Auto, Dim: 10, Scale: 1, Epsilon: 1, Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
	}); !errors.As(err, &p) || p.Param != "mechanism" {
		t.Errorf("an uncompleted round: %v, want a ParamError for mechanism", err)
	}
	r.Params = r.Params.With("slots", fl.Int(8))
	if _, _, err := fl.Complete(r); !errors.As(err, &p) || p.Param != "params" {
		t.Errorf("slots for auto: %v, want a ParamError for params", err)
	}
}

// Best is an error, and no mechanism, where none estimates what is asked for, or none can serve the point.
func TestBestRefuses(t *testing.T) {
	for param, c := range map[string]struct {
		p       sparse.Point
		columns []string
	}{
		"columns":  {sparse.Point{Dim: 100, Sparsity: 8, Epsilon: 1}, []string{fl.ColumnFrequency, "median"}},
		"epsilon":  {sparse.Point{Dim: 100, Sparsity: 8}, nil},
		"sparsity": {sparse.Point{Dim: 100, Sparsity: 101, Epsilon: 1}, []string{fl.ColumnFrequency}},
	} {
		var refused *fl.ParamError
		if best, err := Best(c.p, c.columns...); best != nil || !errors.As(err, &refused) || refused.Param != param {
			t.Errorf("%s: %v, %v, want a ParamError", param, best, err)
		}
	}
}
