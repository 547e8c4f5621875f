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
	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

// coverage are the shares of coordinates in whole rounds whose mean is within 1.96 standard
// errors of the truth: of all coordinates, and of those that all clients hold.
type coverage struct {
	rounds, sum, squares float64
	held                 float64
}

// add counts a round.
func (c *coverage) add(mean fl.Series, truth []float64) {
	all, held, holders := 0.0, 0.0, 0.0
	for j, v := range mean.Value {
		covers := 0.0
		if math.Abs(v-truth[j]) < 1.96*mean.StdErr[j] {
			covers = 1
		}
		all += covers / float64(len(truth))
		if truth[j] != 0 {
			held += covers
			holders++
		}
	}
	c.rounds++
	c.sum += all
	c.squares += all * all
	c.held += held / holders
}

// share returns the average share and its standard error, at least that of one round in 100
// with no coordinate covered.
func (c *coverage) share() (share, se float64) {
	share = c.sum / c.rounds
	return share, max(math.Sqrt((c.squares/c.rounds-share*share)/c.rounds), 0.1/math.Sqrt(c.rounds)/10)
}

// Intervals of 95 % cover at least 93 % of the coordinates, however few reports there are: also
// where they once had no width, at one or two reports. All clients hold the same vector.
// One entry at ε = 6 is the case in which the noise of a report is hardly more than the entry.
// Rounds are independent. A share of 93 % fails at 5.5 of its standard errors, 64 times 2e-8.
func TestFewReportsAreCovered(t *testing.T) {
	const dim, rounds, perOpening = 60, 400, 8
	rng := rand.New(rand.NewChaCha8([32]byte{23}))
	for _, c := range []struct {
		name  string
		slots int // 0: the best number
	}{{coco.Name, 0}, {coco.Name, 2}, {collision.Name, 0}, {signsketch.Name, 0}} {
		for _, at := range []struct {
			sparsity int
			epsilon  float64
		}{{8, 0.5}, {8, 3}, {8, 6}, {1, 6}} {
			params := fl.Params{"sparsity": fl.Int(at.sparsity)}
			if c.slots > 0 {
				params = params.With("slots", fl.Int(c.slots*at.sparsity)).With("hash", fl.Text("gf2"))
			}
			x := sparsetest.Input(dim, at.sparsity, 0)
			truth := sparsetest.Dense(x)
			line := fmt.Sprintf("%s %v, ε = %g:", c.name, params, at.epsilon)
			for _, n := range []int{1, 2, 10, 100} {
				var covers coverage
				for range rounds / perOpening {
					r := sparsetest.RoundWith(t, c.name, dim, at.epsilon, params)
					for i := range r.PublicSeed {
						r.PublicSeed[i] = byte(rng.Uint32())
					}
					m := sparsetest.Open(t, r)
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
						covers.add(e.Mean(), truth)
					}
				}
				share, se := covers.share()
				line += fmt.Sprintf("  n = %d: %.3f (held %.3f)", n, share, covers.held/covers.rounds)
				if share < 0.93-5.5*se {
					t.Errorf("%s at ε = %g with %v: %d reports cover %.4f ± %.4f, want 0.93", c.name, at.epsilon, params, n, share, se)
				}
			}
			t.Log(line)
		}
	}
}
