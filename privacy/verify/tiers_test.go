package verify_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/verify"
	"github.com/hushgrad/hushgrad/tiers"
)

// menuRound has the tiers 0.5, 2 and 8.
func menuRound() fl.Round {
	r := round(tiers.Name, 4, 1, 4, "gf2", 8)
	r.Params = r.Params.With(tiers.ParamBase, fl.Text("collision")).With(tiers.ParamMenu, fl.Text("0.5,2,8")).With(tiers.ParamRadius, fl.Real(0))
	return r
}

// Every tier is checked against its own promise, and the round promises the weakest.
func TestTiersAreCheckedOneByOne(t *testing.T) {
	report := check(t, menuRound(), verify.Options{Samples: 500, Confidence: 1 - 3e-6})
	if !report.Holds || report.EpsilonPromised != 8 || len(report.Tiers) != 3 {
		t.Fatalf("got %+v", report)
	}
	for i, want := range []verify.Epsilon{0.5, 2, 8} {
		tier := report.Tiers[i]
		if !tier.Holds || tier.EpsilonPromised != want || tier.EpsilonFound > want || tier.Tiers != nil || tier.Method != verify.Statistical {
			t.Errorf("tier %d: %+v, want a promise of %v", i, tier, want)
		}
		if math.Abs(tier.Confidence-(1-1e-6)) > 1e-12 { // the confidence in all three together is 1 − 3e-6
			t.Errorf("tier %d: confidence %v, want 1 - 1e-6", i, tier.Confidence)
		}
	}
	// Clients of the weakest tier are distinguished better than the strictest tier would allow.
	if found := report.Tiers[2].EpsilonFound; !(found > 0.5) {
		t.Errorf("weakest tier: ε found %v, want more than 0.5: was it encoded under another tier?", found)
	}
	var text strings.Builder
	if err := report.Write(&text); err != nil || strings.Count(text.String(), "No violation found") != 3 || !strings.Contains(text.String(), "Tier 2 of 0 to 2") {
		t.Errorf("got %v:\n%s", err, text.String())
	}
}

// leakyMenu encodes one tier as another, weaker one.
type leakyMenu struct {
	fl.TieredMechanism
	tier, as int
}

func (l leakyMenu) EncodeTier(dst []byte, tier int, grad []float64, rng *rand.Rand) ([]byte, error) {
	if tier == l.tier {
		tier = l.as
	}
	return l.TieredMechanism.EncodeTier(dst, tier, grad, rng)
}

// A tier that breaks its promise breaks the round's, whatever the strictest tier does.
func TestOneLeakyTierIsFound(t *testing.T) {
	samples := 600
	if *long {
		samples = 800
	}
	for _, tier := range []int{0, 1} {
		r := menuRound()
		r.MinReports = []int{1, 1000}[tier] // the attack looks at single reports all the same
		m, err := fl.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		bad := leakyMenu{m.(fl.TieredMechanism), tier, 2}
		report, err := verify.Mechanism(t.Context(), bad, r, verify.Options{Samples: samples, Rand: seeded()})
		if err != nil {
			t.Fatal(err)
		}
		promised := verify.Epsilon([]float64{0.5, 2}[tier])
		if report.Holds || report.EpsilonPromised != promised || !(report.EpsilonFound > promised) || report.Tiers[tier].Holds || !report.Tiers[2].Holds {
			t.Errorf("tier %d leaks: got %+v", tier, report)
		}
	}
}
