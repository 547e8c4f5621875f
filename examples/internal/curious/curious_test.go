package curious

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// clusters are examples of three classes that are easy to tell apart, of which the first holds half.
func clusters(n int, seed uint64) (e Examples) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		label := max(0, rng.IntN(4)-1)
		x := make([]float64, 6)
		for j := range x {
			x[j] = 0.2 * rng.NormFloat64()
		}
		x[label]++
		e.X, e.Labels = append(e.X, x), append(e.Labels, label)
	}
	return e
}

func guessed(t *testing.T, q plan.Request) *Guesses {
	t.Helper()
	model, err := trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: 1, Width: 6}, 3)
	if err != nil {
		t.Fatal(err)
	}
	q.Dim, q.Clients, q.Delta, q.L1, q.L2, q.Force = model.Dim(), 3000, 1e-6, 3, 1, true
	run, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g, err := Labels(run, model, make([]float64, model.Dim()), 3, clusters(600, 1), clusters(5000, 2), func(i int) *rand.Rand { return rand.New(rand.NewPCG(3, uint64(i))) })
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A guess from a report with a small ε is hardly better than one without a report. With a large ε it is right nearly always if the report is about
// the whole gradient, and less often if it names one coordinate. It is seeded.
func TestGuessesFollowTheEpsilon(t *testing.T) {
	for mechanism, large := range map[string]float64{"privunit": 0.85, "coco": 0.54} {
		for budget, within := range map[float64][2]float64{0.1: {0.4, 0.55}, 12: {large, 1}} {
			g := guessed(t, plan.Request{Mechanism: mechanism, Trust: plan.Nobody, Budget: budget})
			if g.People != 1000 || g.Blind < 0.45 || g.Blind > 0.55 {
				t.Errorf("%+v, want 1000 people, of whom half have the commonest label", g)
			}
			if g.Right < within[0] || g.Right > within[1] {
				t.Errorf("%s, ε = %g: right %g of the time, want %v", mechanism, budget, g.Right, within)
			}
		}
	}
}

// No share, and no sum of a site's records, is guessed from alone.
func TestSharesAndSumsAreNotGuessedFrom(t *testing.T) {
	for _, q := range []plan.Request{{Mechanism: "auto", Trust: plan.TwoServers, Budget: 1}, {Mechanism: "auto", Trust: plan.OwnSite, Records: 30_000, Budget: 1}} {
		g := guessed(t, q)
		var out strings.Builder
		if err := g.Print(&out, q.Trust); g != nil || err != nil || out.Len() > 0 {
			t.Errorf("%+v, %q, %v", g, out.String(), err)
		}
	}
}

func TestGuessesAreSaidInWords(t *testing.T) {
	g := &Guesses{People: 1000, Right: 0.362, Blind: 0.121}
	for trust, want := range map[plan.Trust]string{
		plan.Nobody:   "From one report it guesses the label of a client's example. Tried on 1000 more simulated clients, it is right for 36.2 %. Without a report it names the commonest label, and is right for 12.1 %. Other attacks may find more",
		plan.Shuffler: "This attack then names the commonest label, and is right for 12.1 % of 1000 more simulated clients. Together with the shuffler it guesses the label from one report, and is right for 36.2 %, and for more",
	} {
		var out strings.Builder
		if err := g.Print(&out, trust); err != nil {
			t.Fatal(err)
		}
		if flat := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(flat, want) {
			t.Errorf("%s", out.String())
		}
	}
}
