package ledger_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
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

func TestFilters(t *testing.T) {
	optimal := func(epsilon, delta float64, count int, at float64) float64 {
		got, err := privacy.Homogeneous{Epsilon: epsilon, Delta: delta, Count: count}.EpsilonAt(at)
		must(t, err)
		return got
	}
	mixed := append(charges(0.5, 0, 100), charges(0.25, 1e-9, 4)...)
	for i, c := range []struct {
		filter  ledger.Filter
		charges []ledger.Charge
		delta   float64
		want    float64
	}{
		{ledger.BasicFilter, nil, 0, 0},
		{ledger.BasicFilter, mixed, 4e-9, 51},
		{ledger.BasicFilter, mixed, 3.99e-9, inf},
		{ledger.BasicFilter, charges(1, 0.125, 4), 0.5, 1 * 4},
		{ledger.BasicFilter, charges(1, 0.125, 4), math.Nextafter(0.5, 0), inf},
		// 10 · 0.1 in float64 is above 1 by 5.6e-17, and a float64 below 2 has a step of 2.2e-16.
		{ledger.BasicFilter, charges(0.1, 0, 10), 0, 1 + 0x1p-52},
		{ledger.UniformFilter, nil, 0, 0},
		{ledger.UniformFilter, mixed, 0.1, inf},
		{ledger.UniformFilter, charges(0.1, 0, 100), 0, 10.000000000000002},
		{ledger.UniformFilter, charges(0.1, 0, 100), 1e-6, optimal(0.1, 0, 100, 1e-6)},
		{ledger.UniformFilter, charges(0.1, 1e-8, 100), 1.1e-6, optimal(0.1, 1e-8, 100, 1.1e-6)},
		{ledger.UniformFilter, charges(0.1, 1e-8, 100), 0.9e-6, inf},
		{ledger.UniformFilter, append(charges(1, 0, 1), charges(1, 1e-9, 1)...), 0.1, inf},
		{ledger.EitherFilter, nil, 0, 0},
		{ledger.EitherFilter, mixed, 8e-9, 51},
		{ledger.EitherFilter, mixed, 7.9e-9, inf},
		{ledger.EitherFilter, charges(0.1, 0, 100), 1e-6, optimal(0.1, 0, 100, 0.5e-6)},
		{ledger.EitherFilter, charges(0.1, 1e-8, 100), 2.2e-6, optimal(0.1, 1e-8, 100, 1.1e-6)},
		{ledger.EitherFilter, charges(1, 0, 8), 0, 8},
	} {
		got, err := c.filter(c.charges, c.delta)
		if err != nil || got != c.want {
			t.Errorf("case %d: got %v, %v, want %v", i, got, err, c.want)
		}
	}
	// The classical bound of one hundred at (0.1, 0), ε·√(2k·log(1/δ)) + k·ε·(e^ε − 1) = 6.308, is
	// beaten, and basic composition, 10, by far.
	if got, err := ledger.EitherFilter(charges(0.1, 0, 100), 1e-6); err != nil || !(got > 4 && got < 5.5) {
		t.Errorf("EitherFilter: got %v, %v", got, err)
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
		got, err := privacy.Homogeneous{Epsilon: 0.1, Count: count}.EpsilonAt(0.5e-6)
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

// The accountant is asked with the charges that count, in order, and believed only when it
// returns a number.
func TestPluggedFilter(t *testing.T) {
	var answer float64
	var fail error
	var seen []ledger.Charge
	l, _ := fresh(t, ledger.Budget{Epsilon: 1, Delta: 0.25, Relation: fl.ReplaceOne}, ledger.Options{
		Filter: func(cs []ledger.Charge, delta float64) (float64, error) {
			if seen = cs; delta != 0.25 {
				t.Errorf("delta %v, want 0.25", delta)
			}
			return answer, fail
		},
	})
	reserve(t, l, charge(1, 20))
	released := reserve(t, l, charge(2, 20))
	must(t, l.Release(released))
	answer = 1
	reserve(t, l, charge(3, 3))
	if want := []ledger.Charge{charge(1, 20), charge(3, 3)}; !reflect.DeepEqual(seen, want) {
		t.Errorf("composed %+v, want %+v", seen, want)
	}
	for _, bad := range []float64{nan, -1} {
		answer = bad
		_, err := l.Reserve(context.Background(), charge(4, 1))
		if wantError(t, err, nil, "epsilon"); errors.Is(err, ledger.ErrBudget) {
			t.Errorf("%v: the accountant's failure is no question of budget", err)
		}
	}
	answer, fail = 0, errors.New("no answer")
	_, err := l.Reserve(context.Background(), charge(4, 1))
	wantError(t, err, fail, "")
	if n := len(entries(t, l)); n != 3 {
		t.Errorf("got %d entries, want 3", n)
	}
}
