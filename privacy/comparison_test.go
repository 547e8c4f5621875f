package privacy

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func mustComparisons(t *testing.T, epsilon float64, sparsity, slots int) []Comparison {
	t.Helper()
	curves, err := Comparisons(epsilon, sparsity, slots)
	if err != nil {
		t.Fatal(err)
	}
	return curves
}

// Every curve is named, lies in (0, ε] and falls with n. For t >= 3s the pair is a lower bound
// (package documentation), so the proved ones are above it.
func TestComparisons(t *testing.T) {
	for _, c := range []struct {
		epsilon         float64
		sparsity, slots int
	}{{0.1, 4, 12}, {0.45, 4, 13}, {1, 4, 17}, {2, 3, 5}, {3, 4, 87}} {
		curves := mustComparisons(t, c.epsilon, c.sparsity, c.slots)
		pair := curves[len(curves)-1]
		names := map[string]bool{}
		for _, curve := range curves {
			if curve.Name == "" || curve.Source == "" || curve.Status == "" || names[curve.Name] {
				t.Errorf("%+v: bad labels: %+v", c, curve)
			}
			names[curve.Name] = true
			last := math.Inf(1)
			for _, n := range []int{100, 2000, 50_000} {
				got, err := curve.Curve(n, 1e-6)
				if errors.Is(err, ErrOutOfRange) {
					continue
				}
				if err != nil || !(got > 0 && got <= c.epsilon && got <= last) {
					t.Errorf("%+v n=%d: %s: got %v after %v, error %v", c, n, curve.Name, got, last, err)
				}
				last = got
				if lower, err := pair.Curve(n, 1e-6); err != nil || curve.Status == Proved && c.slots >= 3*c.sparsity && got < lower {
					t.Errorf("%+v n=%d: %s: got %v, below the pair %v, error %v", c, n, curve.Name, got, lower, err)
				}
			}
		}
	}
}

// What Figure 2 of Wang et al. shows for Collision: sums over the blanket's exact law beat
// inequalities, and knowing the mechanism beats not knowing it.
func TestBlanketBeatsItsInequalities(t *testing.T) {
	for _, epsilon := range []float64{0.1, 1, 3} {
		slots := int(4*math.Exp(epsilon)) + 7
		ours := mustEpsilon(t, mustBlanket(t, epsilon, 4, slots), 10_000, 1e-6)
		for _, curve := range mustComparisons(t, epsilon, 4, slots) {
			if curve.Status != Proved {
				continue
			}
			if got, err := curve.Curve(10_000, 1e-6); err == nil && got < ours {
				t.Errorf("eps=%v: %s: %v below the blanket %v", epsilon, curve.Name, got, ours)
			}
		}
	}
}

func TestComparisonStatus(t *testing.T) {
	count := map[Status]int{}
	for _, curve := range mustComparisons(t, 1, 4, 17) {
		count[curve.Status]++
		if _, ok := any(curve).(fl.Amplification); ok {
			t.Errorf("%s can be used as a bound", curve.Name)
		}
	}
	if count[Proved] != 7 || count[Conjectural] != 1 || count[NotABound] != 1 {
		t.Errorf("got %v", count)
	}
}

func TestComparisonErrors(t *testing.T) {
	for _, c := range []struct {
		epsilon         float64
		sparsity, slots int
		want            string
	}{
		{math.NaN(), 4, 17, "privacy: epsilon: got NaN, rule: must be in (0, 20]"},
		{1, 0, 17, "privacy: sparsity: got 0, rule: must be >= 1"},
		{1, 4, 4, "privacy: slots: got 4, rule: must be > sparsity = 4"},
	} {
		if curves, err := Comparisons(c.epsilon, c.sparsity, c.slots); curves != nil || !isInvalid(err, c.want) {
			t.Errorf("%+v: got %v, %v", c, curves, err)
		}
	}
	for _, curve := range mustComparisons(t, 0.1, 4, 17) {
		if _, err := curve.Curve(1, 1e-6); !isInvalid(err, "privacy: clients: got 1, rule: must be in [2, 1000000000]") {
			t.Errorf("%s: one client: %v", curve.Name, err)
		}
		if _, err := curve.Curve(10_000, math.NaN()); !isInvalid(err, "privacy: delta: got NaN, rule: must be in (0, 1)") {
			t.Errorf("%s: NaN: %v", curve.Name, err)
		}
	}
	_, err := mustComparisons(t, 1, 4, 17)[0].Curve(10_000, 1e-6)
	const want = "privacy: Erlingsson et al. 2019: outside the range of the bound: epsilon: got 1, rule: must be below 0.5"
	if !isInvalid(err, want) {
		t.Errorf("got error %v, want %q", err, want)
	}
}

// The limits of the parameters: numbers in range or a stated error, and an end.
func TestComparisonCorners(t *testing.T) {
	for _, epsilon := range []float64{1e-3, 20} {
		for _, curve := range mustComparisons(t, epsilon, 1, 3) {
			for _, n := range []int{2, 1_000_000} {
				for _, delta := range []float64{1e-300, 0.999999} {
					got, err := curve.Curve(n, delta)
					if errors.Is(err, ErrOutOfRange) {
						continue
					}
					if err != nil || !(got >= 0 && got <= epsilon) {
						t.Errorf("eps=%v n=%d delta=%v: %s: got %v, %v", epsilon, n, delta, curve.Name, got, err)
					}
				}
			}
		}
	}
}

// References: the printed formula, evaluated in Python.
func TestErlingsson(t *testing.T) {
	for _, c := range []struct {
		epsilon float64
		n       int
		want    float64
	}{{0.1, 10_000, 0.04460306626619807}, {0.4, 1_000_000, 0.01784122650647923}, {0.1, 1001, 0.1}} {
		if got, err := erlingsson(c.epsilon).Curve(c.n, 1e-6); err != nil || math.Abs(got/c.want-1) > 1e-14 {
			t.Errorf("%+v: got %v, %v", c, got, err)
		}
	}
	for _, c := range []struct {
		epsilon float64
		n       int
		delta   float64
	}{{0.5, 10_000, 1e-6}, {0.1, 1000, 1e-6}, {0.1, 10_000, 0.01}} {
		if got, err := erlingsson(c.epsilon).Curve(c.n, c.delta); got != 0 || !errors.Is(err, ErrOutOfRange) {
			t.Errorf("%+v: got %v, %v", c, got, err)
		}
	}
}

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
