package ledger_test

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// gaussian is a charge of Gaussian noise by two servers.
func gaussian(n uint64, sigma float64) ledger.Charge {
	c := charge(n, 1)
	c.Mechanism = "gaussian-shares"
	c.Guarantee = fl.Guarantee{Trust: fl.TwoServers, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne, Sigma: sigma}
	return c
}

// Different noise multipliers compose to 1/√(Σ 1/σ²). One charge of another kind ends that. In a ledger they cost less than their sum, and
// what was exported has the multiplier.
func TestGaussianChargesCompose(t *testing.T) {
	const delta = 1e-5
	one, err := privacy.Compose(t.Context(), []privacy.Event{{Kind: privacy.KindGaussian, Sigma: 4, Count: 1}}, privacy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := one.Epsilon(t.Context(), delta)
	if err != nil {
		t.Fatal(err)
	}
	site := gaussian(1, 8) // its own noise, which composes alike
	site.Mechanism, site.Guarantee.Trust = "gaussian-site", fl.Local
	several := []ledger.Charge{site, gaussian(2, 8), gaussian(3, 8*math.Sqrt2), gaussian(4, 8*math.Sqrt2), gaussian(5, 8)}
	got, err := ledger.GaussianFilter(several, delta)
	if err != nil || !(got >= want.Lower && got < want.Upper*(1+1e-4)) {
		t.Errorf("five charges: %v, %v, want %v", got, err, want)
	}
	if got, err := ledger.GaussianFilter(append(several, charge(6, 0.1)), delta); err != nil || !math.IsInf(got, 1) {
		t.Errorf("with another charge: %v, %v", got, err)
	}
	if got, err := ledger.GaussianFilter(nil, delta); err != nil || got != 0 {
		t.Errorf("nothing: %v, %v", got, err)
	}
	half, err := ledger.GaussianFilter(several, delta/2)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ledger.EitherFilter(several, delta); err != nil || got != half || got > 2 {
		t.Errorf("the default has %v, %v, want %v", got, err, half)
	}

	limit := limit(half)
	limit.Delta = delta
	l, path := fresh(t, limit, ledger.Options{})
	for _, c := range several {
		reserve(t, l, c)
	}
	must(t, l.Close())
	l = reopen(t, path, ledger.Options{MustExist: true})
	if _, err := l.Reserve(t.Context(), gaussian(6, 100)); err == nil {
		t.Error("a charge beyond the budget was granted")
	}
	x, err := l.Exported()
	must(t, err)
	if entries := x.Purposes[several[0].Purpose].Entries; len(entries) != 5 || entries[2].Sigma != 8*math.Sqrt2 {
		t.Errorf("exported: %+v", entries)
	}
	bare := gaussian(7, 3)
	bare.Guarantee.Trust, bare.Guarantee.Epsilon = fl.NoPrivacy, math.Inf(1)
	var param *fl.ParamError
	if _, err := l.Reserve(t.Context(), bare); !errors.As(err, &param) || param.Param != "sigma" {
		t.Errorf("noise without privacy: %v", err)
	}
}

// A site's noise holds against everybody, and behind a shuffler no less. Both budgets pay for it as Gaussian noise.
func TestASitesNoiseIsPaidForTwice(t *testing.T) {
	limit := limit(2)
	limit.Delta = 1e-5
	l, _ := fresh(t, limit, ledger.Options{})
	must(t, l.SetCentralBudget(gaussian(1, 8).Purpose, limit))
	for n := range uint64(3) {
		c := gaussian(n+1, 8)
		c.Mechanism, c.Guarantee.Trust = "gaussian-site", fl.Local
		c.Central = c.Guarantee
		c.Central.Trust = fl.Shuffle
		reserve(t, l, c)
	}
	for name, spent := range map[string]func(string) (ledger.Budget, error){"local": l.Spent, "central": l.SpentCentral} {
		if b, err := spent(gaussian(1, 8).Purpose); err != nil || !(b.Epsilon > 0.5 && b.Epsilon < 1.5) {
			t.Errorf("%s: three charges of ε = 1 cost %v, %v", name, b, err)
		}
	}
}
