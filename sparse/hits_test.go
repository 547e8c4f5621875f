package sparse_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// The probabilities of hits are the mechanism's: their difference, times Sway, is the clipped gradient, and reports hit as often. Each of the
// 2·4·3 frequencies is within 5.5 standard errors, which one is not with a probability below 1e-6.
func TestHitsAreForeseen(t *testing.T) {
	const rounds, reports = 40, 5000
	for i, c := range []struct {
		mechanism, hash string
		sparsity, slots int
	}{{"coco", "gf2", 1, 4}, {"coco", "ideal", 2, 6}, {"collision", "gf2", 1, 4}, {"collision", "ideal", 2, 5}} {
		r := roundWith(t, c.mechanism, 3, 1.5, fl.Params{"sparsity": fl.Int(c.sparsity), "slots": fl.Int(c.slots), "hash": fl.Text(c.hash)})
		r.Scale = 4 / float64(c.sparsity)
		grad := []float64{3, -1, 0.2} // 2, −1 and 0.2 after the clip
		if c.sparsity == 1 {
			grad[0] = 2
		}
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		var plus, minus, ups, downs [3]float64
		for round := range rounds {
			r.PublicSeed = [32]byte{byte(round + 1), 1}
			m := open(t, r)
			if round == 0 {
				if err := m.(fl.HitMechanism).AddHits(plus[:], minus[:], grad); err != nil {
					t.Fatal(err)
				}
			}
			unit := m.(fl.Swayer).Sway()
			for range reports / rounds {
				report, err := m.Encode(nil, grad, rng)
				if err != nil {
					t.Fatal(err)
				}
				a := m.NewAggregator()
				if err := a.Add(report); err != nil {
					t.Fatal(err)
				}
				e, err := a.Estimate()
				if err != nil {
					t.Fatal(err)
				}
				for j, v := range e.Mean().Value {
					switch v /= unit; {
					case math.Abs(v-1) < 1e-9:
						ups[j]++
					case math.Abs(v+1) < 1e-9:
						downs[j]++
					case v != 0:
						t.Fatalf("%s: a report counts for %g of Sway", c.mechanism, v)
					}
				}
			}
		}
		unit := open(t, r).(fl.Swayer).Sway()
		for j, want := range []float64{2, -1, 0.2} {
			if got := unit * (plus[j] - minus[j]); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s, %s: the mean of coordinate %d is %g, want %g", c.mechanism, c.hash, j, got, want)
			}
			for k, p := range []float64{plus[j], minus[j]} {
				got := [2]float64{ups[j], downs[j]}[k] / reports
				if z := (got - p) / math.Sqrt(p*(1-p)/reports); math.Abs(z) > 5.5 {
					t.Errorf("%s, %s: coordinate %d is hit with a frequency of %.4f, want %.4f", c.mechanism, c.hash, j, got, p)
				}
			}
		}
	}
}

func TestHitsThatCannotBeForeseenAreErrors(t *testing.T) {
	m := open(t, roundOf(t, "coco", 5, 1, 1)).(fl.HitMechanism)
	var p *fl.ParamError
	two := open(t, roundOf(t, "coco", 5, 2, 1)).(fl.HitMechanism)
	if err := two.AddHits(make([]float64, 5), make([]float64, 5), make([]float64, 5)); !errors.Is(err, errors.ErrUnsupported) || !errors.As(err, &p) || p.Param != "hash" {
		t.Errorf("two entries and the hash gf2: %v", err)
	}
	if err := m.AddHits(make([]float64, 5), make([]float64, 4), make([]float64, 5)); !errors.As(err, &p) || p.Param != "hits" {
		t.Errorf("few hits: %v", err)
	}
	if err := m.AddHits(make([]float64, 5), make([]float64, 5), make([]float64, 4)); !errors.As(err, &p) || p.Param != "gradient" {
		t.Errorf("a short gradient: %v", err)
	}
	if err := m.AddHits(make([]float64, 5), make([]float64, 5), []float64{0, 0, 0, 0, math.NaN()}); !errors.As(err, &p) {
		t.Errorf("no number: %v", err)
	}
	sketch := open(t, roundOf(t, "signsketch", 50, 3, 1)).(fl.HitMechanism)
	if err := sketch.AddHits(make([]float64, 50), make([]float64, 50), make([]float64, 50)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("signsketch: %v", err)
	}
}
