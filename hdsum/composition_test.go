package hdsum

import (
	"fmt"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
)

// requireCertified asks the optimal composition for the δ of count instances.
func requireCertified(t *testing.T, name string, each, total budget, count int) {
	t.Helper()
	delta, err := privacy.Homogeneous{Epsilon: each.epsilon, Delta: each.delta, Count: count}.DeltaAt(total.epsilon)
	if err != nil {
		t.Fatal(err)
	}
	if !(delta <= total.delta) {
		t.Errorf("%s: %d instances at %+v compose to delta %g, must be at most %g", name, count, each, delta, total.delta)
	}
}

// Both splits keep the budget by the optimal composition, with 2d instances under
// replace-one and d under zero-out, and Tight has no less ε than Paper.
func TestVectorBudgetsAreCertified(t *testing.T) {
	tighter := 0
	for _, epsilon := range []float64{0.1, 1, 5, 20} {
		for _, delta := range []float64{1e-4, 1e-6, 1e-12} {
			for _, dim := range []int{1, 2, 64, 1024, 1 << 20} {
				for relation, count := range map[fl.Relation]int{fl.ReplaceOne: 2 * dim, fl.ZeroOut: dim} {
					total := budget{epsilon, delta}
					name := fmt.Sprintf("ε = %g, δ = %g, %d coordinates, %s", epsilon, delta, dim, relation)
					tight, err := Tight.perCoordinate(total, dim, relation)
					if err != nil {
						t.Fatal(err)
					}
					requireCertified(t, name+", tight", tight, total, count)
					paper, err := Paper.perCoordinate(total, dim, relation)
					if isParam(err, "composition") {
						continue // refused where it does not hold
					} else if err != nil {
						t.Fatal(err)
					}
					requireCertified(t, name+", paper", paper, total, count)
					if want := epsilon / (4 * math.Sqrt(float64(dim)*math.Log(2/delta))); math.Abs(paper.epsilon-want) > 1e-12*want {
						t.Errorf("%s: the closed form has ε %g, want %g", name, paper.epsilon, want)
					}
					if want := delta / (4 * float64(dim)); math.Abs(paper.delta-want) > 1e-12*want {
						t.Errorf("%s: the closed form has δ %g, want %g", name, paper.delta, want)
					}
					if tight.epsilon < paper.epsilon {
						t.Errorf("%s: tight ε %g, paper ε %g", name, tight.epsilon, paper.epsilon)
					}
					if tight.epsilon > 1.2*paper.epsilon {
						tighter++
					}
				}
			}
		}
	}
	if tighter < 90 {
		t.Errorf("the optimal composition gains above 20%% in %d settings only", tighter)
	}
}

// Tight is within a part in a thousand of the largest ε that its δ allows.
func TestTightLeavesNothing(t *testing.T) {
	total := budget{1, 1e-6}
	each, err := Tight.perCoordinate(total, 1024, fl.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	delta, err := privacy.Homogeneous{Epsilon: 1.001 * each.epsilon, Delta: each.delta, Count: 2048}.DeltaAt(1)
	if err != nil {
		t.Fatal(err)
	}
	if delta <= total.delta {
		t.Errorf("ε = %g could be larger", each.epsilon)
	}
}

// The δ' of Algorithm 7 as printed, δ/2^{j+1}, leaves nothing for the composition
// of the 2^j coordinates of a class with half of (ε, δ): with it they need more
// than that half. Half of it is enough, for each class.
func TestItemBudgets(t *testing.T) {
	for _, epsilon := range []float64{0.5, 1, 5} {
		for _, delta := range []float64{1e-6, 1e-12} {
			total, half := budget{epsilon, delta}, budget{epsilon / 2, delta / 2}
			for j := 0; j <= 12; j++ {
				items := 1 << j
				name := fmt.Sprintf("ε = %g, δ = %g, %d items", epsilon, delta, items)
				tight, err := Tight.perItem(half, total, items)
				if err != nil {
					t.Fatal(err)
				}
				requireCertified(t, name+", tight", tight, half, items)

				printed := privacy.Homogeneous{
					Epsilon: epsilon / (2 * math.Sqrt(2*float64(items)*math.Log(2/delta))), Delta: delta / float64(2*items), Count: items,
				}
				if d, err := printed.DeltaAt(epsilon / 2); err != nil || items >= 64 && d <= half.delta {
					t.Errorf("%s: the printed split composes to %g, %v, within %g", name, d, err, half.delta)
				}
				paper, err := Paper.perItem(half, total, items)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				requireCertified(t, name+", paper", paper, half, items)
				if paper.epsilon != printed.Epsilon || paper.delta != printed.Delta/2 {
					t.Errorf("%s: the closed form is %+v, printed %+v", name, paper, printed)
				}
				if tight.epsilon < paper.epsilon {
					t.Errorf("%s: tight ε %g, paper ε %g", name, tight.epsilon, paper.epsilon)
				}
			}
		}
	}
}

// A closed form that does not hold is refused, and Tight does without it.
func TestClosedFormsThatDoNotHoldAreRefused(t *testing.T) {
	total, paper := budget{1, 1e-6}, budget{0.5, 1e-9}
	if _, err := Paper.split(total, paper, 10); !isParam(err, "composition") {
		t.Errorf("paper: error %v", err)
	}
	each, err := Tight.split(total, paper, 10)
	if err != nil {
		t.Fatal(err)
	}
	requireCertified(t, "tight", each, total, 10)
	if _, err := Composition(7).split(total, budget{0.01, 1e-9}, 10); !isParam(err, "composition") {
		t.Errorf("an unknown composition: error %v", err)
	}
}

// A closed form that is better than what Tight finds with its share of δ is taken.
func TestTightIsNeverBelowThePaper(t *testing.T) {
	total := budget{1, 1e-6}
	best, err := privacy.PerMechanism(total.epsilon, total.delta, 0, 10) // more than with a share of δ
	if err != nil {
		t.Fatal(err)
	}
	paper := budget{epsilon: best * (1 - 1e-9)}
	each, err := Tight.split(total, paper, 10)
	if err != nil {
		t.Fatal(err)
	}
	if each != paper {
		t.Errorf("got %+v, the closed form is %+v", each, paper)
	}
}

func TestCompositionNames(t *testing.T) {
	for _, c := range []Composition{Tight, Paper} {
		if got, err := ParseComposition(c.String()); err != nil || got != c {
			t.Errorf("%s became %s, %v", c, got, err)
		}
	}
	if _, err := ParseComposition(""); !isParam(err, "composition") {
		t.Errorf("error %v", err)
	}
	if got := fmt.Sprint(Composition(9)); got != "Composition(9)" {
		t.Errorf("got %q", got)
	}
}
