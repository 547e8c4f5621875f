package training

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/plan"
)

// Every rule is near the honest mean where a tenth of the updates is far away, but for the mean.
func TestRulesWithstandLies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	updates := make([][]float64, 100)
	for i := range updates {
		updates[i] = []float64{1 + 0.1*rng.NormFloat64(), -2 + 0.1*rng.NormFloat64(), 0.1 * rng.NormFloat64()}
		if i < 10 {
			updates[i] = []float64{500, 500, 500}
		}
	}
	for _, rule := range clearRules {
		got := rule.add(slices.Clone(updates), 10)
		// A fifth off each side of a tenth of lies leaves a bias below the spread of one update.
		near := floats.Distance(got, []float64{1, -2, 0}, math.Inf(1)) < 0.1
		if near != (rule.name != "mean") {
			t.Errorf("%s: %v", rule.name, got)
		}
	}
}

// Without liars the attacks are one, and two servers have one mechanism.
func TestCellsOfLiars(t *testing.T) {
	l := liars{
		federations: federations{features: []string{"glyphs"}, settings: []situation{{plan.Shuffler, 6000, 1}, {plan.TwoServers, 1000, 8}}},
		attacks:     []string{"bias", "reverse"}, shares: []float64{0, 0.01}, mechanisms: []string{"auto", "coco"},
	}
	if got := len(l.cells()); got != 2*3+3 {
		t.Errorf("%d cells, want 9", got)
	}
	for name, change := range map[string]func(l *liars){
		"attack": func(l *liars) { l.attacks = []string{"magic"} }, "clear": func(l *liars) { l.clear = 9 },
		"settings": func(l *liars) { l.settings = []situation{{honestClients, 1000, 8}} },
	} {
		l := l
		change(&l)
		if l.check() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	for _, list := range []string{"1.1", "0,much", "", "NaN"} {
		if got, err := parseShares(list); err == nil {
			t.Errorf("shares %q are %v", list, got)
		}
	}
}

// Aims are about the planned mechanism, by the same setting without liars.
func TestLossesAreComparedWithAims(t *testing.T) {
	cell := func(at situation, mechanism string, share, accuracy float64) *lied {
		return &lied{federated: federated{situation: at, runs: []summary{{Accuracy: accuracy}}}, mechanism: mechanism, attack: "bias", share: share}
	}
	shuffled, two := situation{plan.Shuffler, 6000, 1}, situation{plan.TwoServers, 1000, 8}
	verdicts := liars{}.aims([]*lied{
		cell(shuffled, "auto", 0, 0.97), cell(shuffled, "auto", 0.01, 0.951), cell(shuffled, "coco", 0.01, 0.1), cell(shuffled, "auto", 0.05, 0.1),
		cell(two, "auto", 0, 0.97), cell(two, "auto", 0.05, 0.959),
	})
	if len(verdicts) != 2 || !verdicts[0].Holds || verdicts[1].Holds {
		t.Errorf("%+v", verdicts)
	}
}

// The alarm by public pictures is to be raised in all runs with enough liars who agree on a bias, and in none without.
func TestAlarmsByPublicPicturesAreCounted(t *testing.T) {
	cell := func(attack string, share float64, public ...int) *lied {
		c := &lied{federated: federated{situation: situation{plan.Shuffler, 6000, 1}}, mechanism: "coco", attack: attack, share: share}
		for _, n := range public {
			c.runs = append(c.runs, summary{Public: n, First: n})
		}
		return c
	}
	cells := []*lied{cell("bias", 0, 0, 0), cell("bias", 0.001, 0, 0), cell("bias", 0.005, 2, 3), cell("bias", 0.01, 0, 3), cell("backdoor", 0.05, 0)}
	var got []bool
	for _, v := range (liars{public: true}).notices(cells) {
		got = append(got, v.Holds)
	}
	if !slices.Equal(got, []bool{true, true, false}) {
		t.Errorf("verdicts %v", got)
	}
	if v := (liars{public: true}).notices([]*lied{cell("bias", 0, 0, 1)}); len(v) != 1 || v[0].Holds {
		t.Errorf("a false alarm: %+v", v)
	}
	if v := (liars{}).notices(cells); len(v) > 0 {
		t.Errorf("without the alarm: %+v", v)
	}
	two := cell("bias", 0.005, 2, 5)
	two.runs[0].Backdoor = new(float64)
	*two.runs[0].Backdoor = 0.5
	two.runs[1].Backdoor = two.runs[0].Backdoor
	r := liars{public: true}.report([]*lied{two}, nil)
	for name, want := range map[string]any{"compared": true, "public_alarms": 3.5, "first_public_alarm": 5, "noticed": 2, "backdoor": 0.5} {
		if got := r.Rows[0][slices.Index(r.Columns, name)]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}
