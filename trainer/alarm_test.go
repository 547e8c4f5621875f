package trainer

import (
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
)

var long = flag.Bool("long", false, "raise alarms in 10^7 honest rounds")

// fixed are gradients that do not depend on the model.
type fixed [][]float64

func (f fixed) Len() int     { return len(f) }
func (f fixed) Dim() int     { return len(f[0]) }
func (f fixed) Close() error { return nil }
func (f fixed) Each(_ context.Context, _ []float64, first, last int, visit func(turn int, grad []float64) error) error {
	for turn := first; turn < last; turn++ {
		if err := visit(turn, slices.Clone(f[turn%len(f)])); err != nil {
			return err
		}
	}
	return nil
}

// toWatch is a round of a few coordinates and one entry a report.
func toWatch(t *testing.T, mechanism string, dim int, epsilon float64) (fl.Round, fl.Mechanism) {
	t.Helper()
	r, m, err := fl.Complete(fl.Round{
		ID: "r", Mechanism: mechanism, Dim: dim, Scale: 2, Epsilon: epsilon, Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{3},
		Params: fl.Params{sparse.ParamSparsity: fl.Int(1), sparse.ParamSlots: fl.Int(8)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// publicly are 120 public gradients. A quarter has the first coordinate, a quarter its opposite, and the others have little of all.
func publicly(dim int) (f fixed) {
	for i := range 120 {
		g := make([]float64, dim)
		switch i % 4 {
		case 0:
			g[0] = 1.5
		case 1:
			g[0] = -0.5
		default:
			for j := range g {
				g[j] = 0.1
			}
		}
		f = append(f, g)
	}
	return f
}

// estimateOf is the estimate of a round in which clients with gradients take part, and some more who send one report that moves a coordinate
// up by itself.
func estimateOf(t *testing.T, m fl.Mechanism, honest func(i int) []float64, clients, liars, coordinate int, rng *rand.Rand) *fl.Estimate {
	t.Helper()
	a := m.NewAggregator()
	var report []byte
	for i := range clients {
		var err error
		if report, err = m.Encode(report[:0], honest(i), rng); err == nil {
			err = a.Add(report)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	grad := make([]float64, len(honest(0)))
	grad[coordinate] = 100
	for crafted := []byte(nil); liars > 0; {
		var err error
		if crafted, err = m.Encode(crafted[:0], grad, rng); err != nil {
			t.Fatal(err)
		}
		alone := m.NewAggregator()
		if err := alone.Add(crafted); err != nil {
			t.Fatal(err)
		}
		if e, err := alone.Estimate(); err != nil || e.Mean().Value[coordinate] <= 0 {
			continue
		}
		for range liars {
			if err := a.Add(crafted); err != nil {
				t.Fatal(err)
			}
		}
		break
	}
	e, err := a.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// like120 is a Likeness that 120 public examples can be at the edge of.
var like120 = Likeness{Ratio: 4, Others: 0.1}

// The worst honest clients whom the Likeness allows: all have the largest gradient at one coordinate that a quarter of the public examples has, and a share
// Others of them the largest of any. At a rate of 1/20 an alarm is raised in at most one of 20 runs: more than 0.05·n + 4.9·√(n·0.05·0.95) alarms in n
// runs have a probability below 1e-6.
func TestHonestRunsRaiseNoPublicAlarm(t *testing.T) {
	if !*long {
		t.Skip("takes a second or two")
	}
	const rounds, reports, dim, runs, rate = 5, 40, 3, 2000, 0.05
	public := publicly(dim)
	for mechanism, seed := range map[string]uint64{coco.Name: 1, collision.Name: 2} {
		r, m := toWatch(t, mechanism, dim, 2)
		rng, alarms := rand.New(rand.NewPCG(seed, 7)), 0
		honest := func(int) []float64 {
			if rng.Float64() < like120.Others {
				return []float64{100, 0, 0}
			}
			return public[0]
		}
		for range runs {
			a, err := NewPublicAlarm(public, r, like120)
			if err != nil {
				t.Fatal(err)
			}
			a.rate = rate
			raised := false
			for range rounds {
				found, err := a.Suspects(t.Context(), nil, estimateOf(t, m, honest, reports, 0, 0, rng))
				if err != nil {
					t.Fatal(err)
				}
				raised = raised || len(found) > 0
			}
			if raised {
				alarms++
			}
		}
		if most := rate*runs + 4.9*math.Sqrt(runs*rate*(1-rate)); float64(alarms) > most || alarms == 0 {
			t.Errorf("%s: %d alarms in %d honest runs at a rate of %g, want at most %.0f, and some", mechanism, alarms, runs, rate, most)
		}
	}
}

// The same clients by the law of their reports, at the true rate: 10^7 rounds with -long, in runs of 5. An alarm is raised in at most one of 10^6 runs. So
// more than 12 alarms in 2·10^6 runs have a probability below 1e-6, by Poisson's law with a mean of 2, and more than 3 in 2·10^4 runs one below 1e-8.
func TestHonestRoundsRaiseNoPublicAlarm(t *testing.T) {
	const rounds, reports, dim = 5, 12, 2
	public := publicly(dim)
	runs, most := 20_000, 3
	if *long {
		runs, most = 2_000_000, 12
	}
	r, m := toWatch(t, coco.Name, dim, 2)
	a, err := NewPublicAlarm(public, r, like120)
	if err != nil {
		t.Fatal(err)
	}
	limits, err := a.limits(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	fresh, unit := a.wealth, m.(fl.Swayer).Sway()/reports
	rng, alarms := rand.New(rand.NewPCG(3, 7)), 0
	mean := make([]float64, dim)
	e := fl.NewEstimate(r, fl.Guarantee{}, reports, fl.Series{Value: mean})
	for range runs {
		a.rounds = 0
		for i := range fresh {
			a.wealth[i] = slices.Clone(fresh[i])
		}
		raised := false
		for range rounds {
			hits := 0.
			for range reports { // honest ones hit the first coordinate as often as the limits allow
				switch u := rng.Float64(); {
				case u < limits[0].often[0]:
					hits++
				case u < limits[0].often[0]+limits[0].rarely[0]:
					hits--
				}
			}
			mean[0] = hits * unit
			raised = raised || len(a.bet(limits, e)) > 0
		}
		if raised {
			alarms++
		}
	}
	if alarms > most {
		t.Errorf("%d alarms in %d honest runs, want at most %d", alarms, runs, most)
	}
}

// A few liars are found in the first round, or over the rounds, also those who come late. Honest clients of the public kind are not.
func TestLiarsAreFoundByPublicExamples(t *testing.T) {
	const reports, dim = 600, 3
	r, m := toWatch(t, coco.Name, dim, 2)
	public := publicly(dim)
	for name, c := range map[string]struct {
		liars, from int // and the round with which they begin
		by          int // round in which they are found; 0: never
	}{"honest": {0, 0, 0}, "many": {300, 1, 1}, "few": {45, 1, 10}, "late": {120, 60, 61}} {
		rng := rand.New(rand.NewPCG(5, 6))
		a, err := NewPublicAlarm(public, r, Likeness{})
		if err != nil {
			t.Fatal(err)
		}
		first := 0
		for round := 1; round <= max(12, c.by); round++ {
			liars := c.liars
			if round < c.from {
				liars = 0
			}
			e := estimateOf(t, m, func(i int) []float64 { return public[i%len(public)] }, reports-liars, liars, 1, rng)
			found, err := a.Suspects(t.Context(), nil, e)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) > 0 && first == 0 {
				first = round
				if !slices.Equal(found, []int{1}) {
					t.Errorf("%s: alarm at %v, want coordinate 1", name, found)
				}
			}
		}
		if (first == 0) != (c.by == 0) || first > c.by {
			t.Errorf("%s: found in round %d, want round %d", name, first, c.by)
		}
	}
}

// Whoever counts on other clients than the public ones says so.
func TestTheLikenessBoundsHonestClients(t *testing.T) {
	sorted := []float64{1, 2, 3, 4, 10}
	for ratio, want := range map[float64][2]float64{1: {4, 4}, 5: {1, 10}, 2: {(1 + 2 + 1.5) / 2.5, (10 + 4 + 1.5) / 2.5}, 100: {1, 10}} {
		if low, high := tails(sorted, ratio); math.Abs(low-want[0])+math.Abs(high-want[1]) > 1e-12 {
			t.Errorf("ratio %g: %g and %g, want %v", ratio, low, high, want)
		}
	}
	r, m := toWatch(t, coco.Name, 3, 2)
	a, err := NewPublicAlarm(publicly(3), r, Likeness{Ratio: 8, Others: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.limits(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	hits := func(first float64) (plus, minus []float64) {
		plus, minus = make([]float64, 3), make([]float64, 3)
		if err := m.(fl.HitMechanism).AddHits(plus, minus, []float64{first, 0, 0}); err != nil {
			t.Fatal(err)
		}
		return plus, minus
	}
	most, _ := hits(100)
	up, least := hits(1.5)
	opposite, down := hits(-0.5)
	want := [4]float64{0.75*up[0] + 0.25*most[0], 0.75 * least[0], 0.75*down[0] + 0.25*most[0], 0.75 * opposite[0]}
	for i, v := range []float64{got[0].often[0], got[0].rarely[0], got[1].often[0], got[1].rarely[0]} {
		if math.Abs(v-want[i]) > 1e-12 {
			t.Errorf("limit %d of the first coordinate is %g, want %g", i, v, want[i])
		}
	}
}

func TestAlarmsThatCannotBeAreRefused(t *testing.T) {
	r, _ := toWatch(t, coco.Name, 3, 2)
	public := publicly(3)
	other, _, err := fl.Complete(fl.Round{ID: "r", Mechanism: "none", Dim: 3, Scale: 1, Epsilon: math.Inf(1), MinReports: 1, PublicSeed: [32]byte{3}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		public Gradients
		round  fl.Round
		like   Likeness
	}{
		"mechanism": {public, other, Likeness{}},
		"public":    {public[:99], r, Likeness{}}, "public ": {publicly(4), r, Likeness{}}, "public  ": {nil, r, Likeness{}},
		"ratio": {public, r, Likeness{Ratio: 0.5}}, "ratio ": {public, r, Likeness{Ratio: math.NaN()}}, "others": {public, r, Likeness{Others: 1}}, "others ": {public, r, Likeness{Others: -0.1}},
	} {
		var p *fl.ParamError
		if _, err := NewPublicAlarm(c.public, c.round, c.like); !errors.As(err, &p) || p.Param != strings.TrimSpace(name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	sketch, _, err := fl.Complete(fl.Round{
		ID: "r", Mechanism: signsketch.Name, Dim: 3, Scale: 1, Epsilon: 1, MinReports: 1, PublicSeed: [32]byte{3}, Params: fl.Params{sparse.ParamSparsity: fl.Int(3)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPublicAlarm(public, sketch, Likeness{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("signsketch: %v", err)
	}
	a, err := NewPublicAlarm(public, r, Likeness{})
	if err != nil {
		t.Fatal(err)
	}
	var p *fl.ParamError
	if _, err := a.Suspects(t.Context(), nil, fl.NewEstimate(fl.Round{}, fl.Guarantee{}, 5, fl.Series{Value: make([]float64, 2)})); !errors.As(err, &p) || p.Param != "estimate" {
		t.Errorf("another estimate: %v", err)
	}
}
