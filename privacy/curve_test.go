package privacy_test

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/tiers"
)

// gaussianDelta is the curve of Balle and Wang, ICML 2018, Theorem 8, for noise sigma.
func gaussianDelta(epsilon, sigma float64) float64 {
	a, b := epsilon*sigma, 0.5/sigma
	return math.Erfc((a-b)/math.Sqrt2)/2 - math.Exp(epsilon)*math.Erfc((a+b)/math.Sqrt2)/2
}

// T Gaussian mechanisms are one with sigma/√T.
func TestGaussianClosedForm(t *testing.T) {
	for _, sigma := range []float64{1.5, 10, 100} {
		d := must[*privacy.Distribution](t)(privacy.Gaussian(t.Context(), sigma, privacy.Options{}))
		for _, k := range []int{1, 7, 1000} {
			if sigma == 1.5 && k == 1000 {
				continue // ε above 300
			}
			if sigma == 10 && k == 1000 && !*privacy.Long {
				continue // as many points as σ = 100 has, at ten times the ε
			}
			if sigma != 10 && k == 7 && !*privacy.Long {
				continue
			}
			composed := must[*privacy.Distribution](t)(d.Compose(k))
			for _, delta := range deltas {
				if !*privacy.Long && k > 1 && delta > 1e-10 {
					continue
				}
				b := must[privacy.Bounds](t)(composed.Epsilon(t.Context(), delta))
				// At Upper δ must be at most delta, at Lower at least.
				one := sigma / math.Sqrt(float64(k))
				if at := gaussianDelta(b.Upper, one); at > delta*(1+1e-9) {
					t.Errorf("sigma=%v k=%d delta=%v: δ(%v) = %v", sigma, k, delta, b.Upper, at)
				}
				if at := gaussianDelta(b.Lower, one); at < delta*(1-1e-9) && b.Lower > 0 {
					t.Errorf("sigma=%v k=%d delta=%v: δ(%v) = %v from below", sigma, k, delta, b.Lower, at)
				}
				// One loss alone feels the rounding of the curve where it ends.
				if !(b.Error() <= 1e-3 || k == 1 && b.Error() <= 0.02) {
					t.Errorf("sigma=%v k=%d delta=%v: error of %+v", sigma, k, delta, b)
				}
			}
			for _, z := range []float64{0, 1, 4} {
				epsilon := z * math.Sqrt(float64(k)) / sigma
				truth := gaussianDelta(epsilon, sigma/math.Sqrt(float64(k)))
				b := must[privacy.Bounds](t)(composed.Delta(t.Context(), epsilon))
				enclose(t, "Gaussian δ", b, truth, 1e-9, 0.03*truth)
			}
		}
	}
}

// One round must give the blanket's own curve, and 1000 rounds a small error. A thousand
// rounds cost less than the optimal composition of what one round says at one δ.
func TestShuffled(t *testing.T) {
	cases := []struct {
		epsilon                  float64
		sparsity, slots, clients int
	}{{5, 40, 5975, 2000}, {1, 4, 17, 10_000}}
	if !*privacy.Long {
		cases = cases[:1]
	}
	for _, c := range cases {
		blanket := must[*privacy.Blanket](t)(privacy.NewBlanket(c.epsilon, c.sparsity, c.slots))
		round := must[*privacy.Distribution](t)(privacy.Shuffled(t.Context(), c.epsilon, c.sparsity, c.slots, c.clients, privacy.Options{}))
		for _, delta := range []float64{1e-3, 1e-6, 1e-10} {
			b := must[privacy.Bounds](t)(round.Epsilon(t.Context(), delta))
			atUpper := must[float64](t)(blanket.Delta(c.clients, b.Upper))
			atLower := must[float64](t)(blanket.Delta(c.clients, b.Lower))
			// The blanket's own sums are rounded up by varying amounts, 10^-5 and less.
			if atUpper > delta*(1+1e-5) || atLower < delta*(1-1e-5) || b.Error() > 1e-4 {
				t.Errorf("%+v: %+v, with δ from %v to %v", c, b, atLower, atUpper)
			}
		}
		all := must[*privacy.Distribution](t)(round.Compose(1000))
		b := must[privacy.Bounds](t)(all.Epsilon(t.Context(), 1e-6))
		if b.Error() > 1e-3 {
			t.Errorf("%+v: error %v", c, b.Error())
		}
		const each = 5e-10
		at := must[float64](t)(blanket.Epsilon(c.clients, each))
		general := must[float64](t)(privacy.Homogeneous{Epsilon: at, Delta: each, Count: 1000}.EpsilonAt(1e-6))
		if !(b.Upper < general && b.Lower > at) {
			t.Errorf("%+v: %+v, want between one round's %v and %v", c, b, at, general)
		}
	}
}

// A curve given as a function is the mechanism it came from.
func TestFromCurve(t *testing.T) {
	curve := func(epsilon float64) (float64, error) { return max(0, gaussianDelta(epsilon, 3)), nil }
	d := must[*privacy.Distribution](t)(privacy.FromCurve(t.Context(), curve, 3, privacy.Options{Tail: 1e-15}))
	named := must[*privacy.Distribution](t)(privacy.Gaussian(t.Context(), 3, privacy.Options{}))
	for _, k := range []int{1, 20} {
		a := must[privacy.Bounds](t)(must[*privacy.Distribution](t)(d.Compose(k)).Epsilon(t.Context(), 1e-6))
		b := must[privacy.Bounds](t)(must[*privacy.Distribution](t)(named.Compose(k)).Epsilon(t.Context(), 1e-6))
		if a.Lower > b.Upper || b.Lower > a.Upper || a.Error() > 1e-4 {
			t.Errorf("k=%d: %+v and %+v", k, a, b)
		}
	}
	// A curve that is cut off at maxEpsilon has infinite losses there.
	short := must[*privacy.Distribution](t)(privacy.FromCurve(t.Context(), curve, 1, privacy.Options{}))
	if got, want := short.Infinite(), gaussianDelta(1, 3); got < want*(1-1e-12) || got > want*(1+1e-9) {
		t.Errorf("infinite mass %v, want %v", got, want)
	}
}

// unshuffled hides the bound on shuffling.
type unshuffled struct{ fl.Mechanism }

func TestReportsTakeTheBestBoundThereIs(t *testing.T) {
	r := fl.Round{
		ID: "r", Mechanism: coco.Name, Dim: 100, Scale: 1, Epsilon: 2, Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
		Params: fl.Params{"sparsity": fl.Int(4), "slots": fl.Int(32)},
	}
	r, m, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	epsilon := func(m fl.Mechanism) float64 {
		d, err := privacy.Reports(t.Context(), m, 1000, privacy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.Epsilon(t.Context(), 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		return b.Upper
	}
	blanket, err := privacy.NewBlanket(2, 4, 32)
	if err != nil {
		t.Fatal(err)
	}
	want, err := blanket.Epsilon(1000, 1e-6)
	if got := epsilon(m); err != nil || got < want*(1-1e-5) || got > want*1.01 {
		t.Errorf("shuffled: ε = %g, want %g, %v", got, want, err)
	}
	if got := epsilon(unshuffled{m}); math.Abs(got-2) > 1e-3 {
		t.Errorf("without a bound on shuffling: ε = %g, want 2", got)
	}
	halves := promising{m, fl.Guarantee{Trust: fl.TwoServers, Epsilon: 1.5, Relation: fl.ReplaceOne}}
	if got := epsilon(halves); math.Abs(got-1.5) > 1e-3 {
		t.Errorf("by two servers: ε = %g, want 1.5", got)
	}
	r.Mechanism, r.Epsilon, r.Params = baseline.None, math.Inf(1), nil
	if m, err = fl.Open(r); err != nil {
		t.Fatal(err)
	}
	var p *fl.ParamError
	if _, err := privacy.Reports(t.Context(), m, 1000, privacy.Options{}); !errors.As(err, &p) || p.Param != "trust" {
		t.Errorf("no privacy: error %v", err)
	}
}

// promising is a mechanism with another guarantee.
type promising struct {
	fl.Mechanism
	guarantee fl.Guarantee
}

func (m promising) Guarantee() fl.Guarantee { return m.guarantee }

// menu is a mechanism whose clients choose one of several guarantees.
type menu struct {
	fl.TieredMechanism
	tiers []fl.Guarantee
}

func (m menu) Tiers() []fl.Guarantee { return m.tiers }

// amplified is a menu with a bound on shuffling, which cannot know the tier.
type amplified struct {
	menu
	fl.Amplifier
}

// A client of a menu may have chosen the weakest guarantee on it.
func TestReportsTakeTheWeakestTier(t *testing.T) {
	r, m, err := fl.Complete(fl.Round{
		ID: "r", Mechanism: tiers.Name, Dim: 100, Scale: 1, Epsilon: 8, Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
		Params: fl.Params{tiers.ParamBase: fl.Text(coco.Name), tiers.ParamMenu: fl.Text("0.5,2,8"), "sparsity": fl.Int(4)},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := must[*privacy.Distribution](t)(privacy.Reports(t.Context(), m, 1000, privacy.Options{}))
	if got := epsilonOf(t, d).Upper; got < 7.9 {
		t.Errorf("menu %v: ε = %g, want 8", r.Params, got)
	}

	tiered := m.(fl.TieredMechanism)
	local := func(epsilon, delta float64) fl.Guarantee {
		return fl.Guarantee{Trust: fl.Local, Epsilon: epsilon, Delta: delta, Relation: fl.ReplaceOne}
	}
	zeroOut := local(1, 0)
	zeroOut.Relation = fl.ZeroOut
	_, base, err := fl.Complete(fl.Round{
		ID: "r", Mechanism: coco.Name, Dim: 100, Scale: 1, Epsilon: 0.5, Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
		Params: fl.Params{"sparsity": fl.Int(4)},
	})
	if err != nil {
		t.Fatal(err)
	}
	strict := amplified{menu{tiered, tiered.Tiers()}, base.(fl.Amplifier)}
	d = must[*privacy.Distribution](t)(privacy.Reports(t.Context(), strict, 1000, privacy.Options{}))
	if got := epsilonOf(t, d).Upper; got < 7.9 {
		t.Errorf("amplified menu: ε = %g, want 8", got)
	}
	// In whatever order they are listed.
	backwards := menu{tiered, []fl.Guarantee{local(8, 0), local(2, 0), local(0.5, 0)}}
	d = must[*privacy.Distribution](t)(privacy.Reports(t.Context(), backwards, 1000, privacy.Options{}))
	if got := epsilonOf(t, d).Upper; got < 7.9 {
		t.Errorf("the weakest first: ε = %g, want 8", got)
	}
	// The largest ε and the largest δ hold for all, whichever tier has them.
	crossed := menu{tiered, []fl.Guarantee{local(0.5, 1e-7), local(2, 0)}}
	d = must[*privacy.Distribution](t)(privacy.Reports(t.Context(), crossed, 1000, privacy.Options{}))
	if got := epsilonOf(t, d).Upper; got < 1.9 || d.Infinite() < 0.9e-7 {
		t.Errorf("crossed menu: ε = %g, δ at least %g, want 2 and 10^-7", got, d.Infinite())
	}
	for param, tiers := range map[string][]fl.Guarantee{
		"tiers":    {},
		"trust":    {local(1, 0), {Trust: fl.NoPrivacy, Epsilon: math.Inf(1)}},
		"relation": {local(1, 0), zeroOut},
		"epsilon":  {local(1, 0), local(math.NaN(), 0)},
		// A menu of a mechanism with floating-point noise.
		"real_numbers": {{Trust: fl.Local, Epsilon: 1, Relation: fl.ReplaceOne, RealNumbers: true}},
	} {
		var p *fl.ParamError
		if _, err := privacy.Reports(t.Context(), menu{tiered, tiers}, 1000, privacy.Options{}); !errors.As(err, &p) || p.Param != param {
			t.Errorf("menu %v: error %v, want one for %s", tiers, err, param)
		}
	}
}

// A bound on a curve may rise where the curve cannot: what holds at an ε holds at every larger one.
func TestACurveThatRisesIsItsRunningMinimum(t *testing.T) {
	falling := func(epsilon float64) (float64, error) { return 0.4 * math.Exp(-3*min(epsilon, 1)), nil }
	rising := func(epsilon float64) (float64, error) {
		delta, err := falling(epsilon)
		return delta + 0.2*max(0, epsilon-1), err
	}
	want := must[*privacy.Distribution](t)(privacy.FromCurve(t.Context(), falling, 2, privacy.Options{}))
	got := must[*privacy.Distribution](t)(privacy.FromCurve(t.Context(), rising, 2, privacy.Options{}))
	if got.Infinite() != want.Infinite() {
		t.Errorf("infinite losses have %v, want %v", got.Infinite(), want.Infinite())
	}
	for _, epsilon := range []float64{0, 0.5, 1, 1.9} {
		a, b := must[privacy.Bounds](t)(got.Delta(t.Context(), epsilon)), must[privacy.Bounds](t)(want.Delta(t.Context(), epsilon))
		if a != b {
			t.Errorf("δ(%v): %v, want %v", epsilon, a, b)
		}
	}
}
