package ledger_test

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/privacy/compose"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

func charges(epsilon, delta float64, count int) []ledger.Charge {
	cs := make([]ledger.Charge, count)
	for i := range cs {
		cs[i] = charge(uint64(i+1), epsilon)
		cs[i].Guarantee.Delta = delta
	}
	return cs
}

func TestComposers(t *testing.T) {
	optimal := func(epsilon, delta float64, count int, at float64) float64 {
		got, err := compose.Homogeneous{Epsilon: epsilon, Delta: delta, Count: count}.EpsilonAt(at)
		must(t, err)
		return got
	}
	mixed := append(charges(0.5, 0, 100), charges(0.25, 1e-9, 4)...)
	for i, c := range []struct {
		compose ledger.Composer
		charges []ledger.Charge
		delta   float64
		want    float64
	}{
		{ledger.Basic, nil, 0, 0},
		{ledger.Basic, mixed, 4e-9, 51},
		{ledger.Basic, mixed, 3.99e-9, inf},
		{ledger.Basic, charges(1, 0.125, 4), 0.5, 1 * 4},
		{ledger.Basic, charges(1, 0.125, 4), math.Nextafter(0.5, 0), inf},
		// 10 · 0.1 in float64 is above 1 by 5.6e-17, and a float64 below 2 has a step of 2.2e-16.
		{ledger.Basic, charges(0.1, 0, 10), 0, 1 + 0x1p-52},
		{ledger.Uniform, nil, 0, 0},
		{ledger.Uniform, mixed, 0.1, inf},
		{ledger.Uniform, charges(0.1, 0, 100), 0, 10.000000000000002},
		{ledger.Uniform, charges(0.1, 0, 100), 1e-6, optimal(0.1, 0, 100, 1e-6)},
		{ledger.Uniform, charges(0.1, 1e-8, 100), 1.1e-6, optimal(0.1, 1e-8, 100, 1.1e-6)},
		{ledger.Uniform, charges(0.1, 1e-8, 100), 0.9e-6, inf},
		{ledger.Uniform, append(charges(1, 0, 1), charges(1, 1e-9, 1)...), 0.1, inf},
		{ledger.Either, nil, 0, 0},
		{ledger.Either, mixed, 8e-9, 51},
		{ledger.Either, mixed, 7.9e-9, inf},
		{ledger.Either, charges(0.1, 0, 100), 1e-6, optimal(0.1, 0, 100, 0.5e-6)},
		{ledger.Either, charges(0.1, 1e-8, 100), 2.2e-6, optimal(0.1, 1e-8, 100, 1.1e-6)},
		{ledger.Either, charges(1, 0, 8), 0, 8},
	} {
		got, err := c.compose(c.charges, c.delta)
		if err != nil || got != c.want {
			t.Errorf("case %d: got %v, %v, want %v", i, got, err, c.want)
		}
	}
	// The classical bound of one hundred at (0.1, 0), ε·√(2k·log(1/δ)) + k·ε·(e^ε − 1) = 6.308, is
	// beaten, and basic composition, 10, by far.
	if got, err := ledger.Either(charges(0.1, 0, 100), 1e-6); err != nil || !(got > 4 && got < 5.5) {
		t.Errorf("Either: got %v, %v", got, err)
	}
}

// A client that gets further than basic composition allows, on the default.
func TestReserveBeyondBasic(t *testing.T) {
	b := limit(5)
	b.Delta = 1e-6
	l, _ := fresh(t, b, ledger.Options{})
	n := uint64(0)
	for ; n < 200; n++ {
		if _, err := l.Reserve(t.Context(), charge(n+1, 0.1)); err != nil {
			wantError(t, err, ledger.ErrBudget, "epsilon")
			break
		}
	}
	at := func(count int) float64 {
		got, err := compose.Homogeneous{Epsilon: 0.1, Count: count}.EpsilonAt(0.5e-6)
		must(t, err)
		return got
	}
	if n <= 50 || at(int(n)) > 5 || at(int(n)+1) <= 5 {
		t.Errorf("%d reports, which make %v; basic composition allows 49", n, at(int(n)))
	}
	if got := spent(t, l); got != at(int(n)) {
		t.Errorf("spent %v, want %v", got, at(int(n)))
	}
	// Another kind of report would have to be paid by basic composition.
	_, err := l.Reserve(t.Context(), charge(999, 0.001))
	wantError(t, err, ledger.ErrBudget, "epsilon")
}
