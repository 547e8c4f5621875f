package privacy

import (
	"errors"
	"math"
	"testing"
)

// References: the printed formula, evaluated in Python.
func TestCloneClosedForm(t *testing.T) {
	for _, c := range []struct {
		epsilon float64
		n       int
		want    float64
	}{{1, 10_000, 0.21402565193083783}, {0.1, 10_000, 0.016292484999404784}, {4, 1_000_000, 0.2009852295237436}} {
		if got, err := cloneClosedForm(c.epsilon).Curve(c.n, 1e-6); err != nil || math.Abs(got/c.want-1) > 1e-14 {
			t.Errorf("%+v: got %v, %v", c, got, err)
		}
	}
	for _, n := range []int{1000, 10_000} { // log(10^4/(16·log(2·10^6))) = 3.763
		got, err := cloneClosedForm(3.764).Curve(n, 1e-6)
		if got != 0 || !errors.Is(err, ErrOutOfRange) {
			t.Errorf("n=%d: got %v, %v", n, got, err)
		}
	}
	// At the edge of its range the formula can exceed the local ε: log(1 + 0.0104) here.
	if got, err := cloneClosedForm(0.01).Curve(235, 1e-6); got != 0.01 || err != nil {
		t.Errorf("got %v, %v, want the local epsilon", got, err)
	}
	if _, err := cloneClosedForm(3.762).Curve(10_000, 1e-6); err != nil {
		t.Error(err)
	}
}

// The theorem says that its closed form is above the numeric bound.
func TestCloneClosedFormIsAboveTheNumericBound(t *testing.T) {
	for _, epsilon := range []float64{0.01, 0.3, 1, 3, 6} {
		for _, n := range []int{300, 10_000, 1_000_000} {
			for _, delta := range []float64{1e-12, 1e-6, 0.1} {
				closed, err := cloneClosedForm(epsilon).Curve(n, delta)
				if errors.Is(err, ErrOutOfRange) {
					continue
				}
				if numeric := mustEpsilon(t, mustClone(t, epsilon), n, delta); closed < numeric {
					t.Errorf("eps=%v n=%d delta=%v: closed form %v below %v", epsilon, n, delta, closed, numeric)
				}
			}
		}
	}
}

// The stronger clones are the pair at its largest α; the recorded cells are in
// TestRecordedCells.
func TestStrongerCloneIsThePair(t *testing.T) {
	for _, epsilon := range []float64{0.1, 1, 4} {
		curve, err := strongerClone(epsilon)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{5000, 50_000} {
			got, err := curve.Curve(n, 1e-6)
			if err != nil {
				t.Fatal(err)
			}
			alpha := 1 / (math.Exp(epsilon) + 1)
			if d := twoCounters(n, epsilon, alpha, alpha, got); math.Abs(d/1e-6-1) > 1e-6 {
				t.Errorf("eps=%v n=%d: δ at %v is %v", epsilon, n, got, d)
			}
		}
	}
}
