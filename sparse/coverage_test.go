package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/signsketch"
)

// coverage are the shares of coordinates in whole rounds whose estimate is within 1.96 standard
// errors of the truth.
type coverage struct{ rounds, sum, squares float64 }

// add counts those coordinates of a round that are included.
func (c *coverage) add(s fl.Series, truth []float64, include func(truth float64) bool) {
	covered, n := 0.0, 0.0
	for j, v := range s.Value {
		if !include(truth[j]) {
			continue
		}
		if n++; math.Abs(v-truth[j]) < 1.96*s.StdErr[j] {
			covered++
		}
	}
	c.rounds++
	c.sum += covered / n
	c.squares += covered / n * covered / n
}

// share returns the average share and its standard error, at least the standard error of one round
// in 100 with no coordinate covered.
func (c *coverage) share() (share, se float64) {
	share = c.sum / c.rounds
	return share, max(math.Sqrt((c.squares/c.rounds-share*share)/c.rounds), 0.1/math.Sqrt(c.rounds)/10)
}

func every(float64) bool        { return true }
func held(truth float64) bool   { return truth != 0 }
func abs(x []float64) []float64 { return apply(x, math.Abs) }
func plus(x []float64) []float64 {
	return apply(x, func(v float64) float64 { return max(v, 0) })
}

func apply(x []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}

// Intervals of 95 % cover at least 93 % of the coordinates, however few reports there are: of
// all coordinates, and of the coordinates that clients hold. A dozen hits once covered 88 % of the held
// coordinates. All clients hold the same vector. One entry at ε = 6 is the case in which the noise of a
// report is hardly more than the entry. Rounds are independent. A share of 93 % fails at 5.5 of its
// standard errors, 320 times 2e-8.
func TestFewReportsAreCovered(t *testing.T) {
	if !*long {
		t.Skip("38400 rounds on one goroutine")
	}
	const dim, rounds, perOpening = 60, 400, 8
	rng := rand.New(rand.NewChaCha8([32]byte{23}))
	for _, c := range []struct {
		name  string
		slots int  // 0: the best number
		shows bool // frequencies, which take other numbers of slots than the mean
	}{{coco.Name, 0, false}, {coco.Name, 0, true}, {coco.Name, 2, false}, {collision.Name, 0, false}, {collision.Name, 0, true}, {signsketch.Name, 0, false}} {
		for _, at := range []struct {
			sparsity int
			epsilon  float64
		}{{8, 0.5}, {8, 3}, {8, 6}, {1, 6}} {
			params := fl.Params{"sparsity": fl.Int(at.sparsity)}
			if c.slots > 0 {
				params = params.With("slots", fl.Int(c.slots*at.sparsity)).With("hash", fl.Text("gf2"))
			}
			r := fl.Round{ID: "test", Mechanism: c.name, Dim: dim, Scale: 1, Epsilon: at.epsilon, MinReports: 1, Params: params, PublicSeed: [32]byte{1}}
			if c.shows {
				r.Columns = []string{fl.ColumnFrequency, fl.ColumnPlus}
			}
			r, _, err := fl.Complete(r)
			if err != nil {
				t.Fatal(err)
			}
			x := input(dim, at.sparsity, 0)
			truth := dense(x)
			for _, n := range []int{1, 2, 10, 100} {
				covers := map[string]*coverage{"all": {}, "held": {}}
				if c.shows {
					covers["frequency"], covers["plus"] = &coverage{}, &coverage{}
				}
				for range rounds / perOpening {
					for i := range r.PublicSeed {
						r.PublicSeed[i] = byte(rng.Uint32())
					}
					m := open(t, r)
					for range perOpening {
						agg := m.NewAggregator()
						for range n {
							report, err := m.EncodeTernary(nil, x, rng)
							if err != nil {
								t.Fatal(err)
							}
							if err := agg.Add(report); err != nil {
								t.Fatal(err)
							}
						}
						e, err := agg.Estimate()
						if err != nil {
							t.Fatal(err)
						}
						covers["all"].add(e.Mean(), truth, every)
						covers["held"].add(e.Mean(), truth, held)
						if c.shows {
							frequency, _ := e.Column(fl.ColumnFrequency)
							covers["frequency"].add(frequency, abs(truth), held)
							pluses, _ := e.Column(fl.ColumnPlus)
							covers["plus"].add(pluses, plus(truth), held)
						}
					}
				}
				line := fmt.Sprintf("%s %v, ε = %g, n = %d:", c.name, params, at.epsilon, n)
				for what, c := range covers {
					share, se := c.share()
					line += fmt.Sprintf("  %s %.3f", what, share)
					if share < 0.93-5.5*se {
						t.Errorf("%s: %s: covers %.4f ± %.4f, want 0.93", line, what, share, se)
					}
				}
				t.Log(line)
			}
		}
	}
}
