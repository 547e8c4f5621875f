package privacy

import (
	"math"
	"testing"
)

var _ = []Amplification{(*Blanket)(nil), (*Clone)(nil)}

// Every recorded cell of both bounds and of the pair. Without the safety margin the numbers
// agree to 10^-9, and those of the bounds are never below; in three cells the recorded ε_c
// is itself off by up to 2.7e-7 and its recomputed value is used. What Epsilon returns has the
// margin: it stays within 10^-6 of each recorded value and is not below any of them.
func TestRecordedCells(t *testing.T) {
	cells := readGolden(t).Cells
	if len(cells) != 63 {
		t.Fatalf("got %d cells, want 63", len(cells))
	}
	for _, c := range cells {
		if testing.Short() && c.N > 10_000 && c.Recomputed == 0 && c.Clone == 0 {
			continue
		}
		pair, err := PairCurve(c.Eps, c.Alpha)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := pair.Curve(c.N, c.Delta); err != nil || math.Abs(got/c.Pair-1) > 1e-9 {
			t.Errorf("n=%d eps=%v %s: pair %v, recorded %v (off by %.2g), error %v", c.N, c.Eps, c.Family, got, c.Pair, got/c.Pair-1, err)
		}
		var b bound
		recorded, want := c.Blanket, c.Recomputed
		if c.Family == "generic" {
			b, recorded = mustClone(t, c.Eps).bound, c.Clone
		} else {
			b = mustBlanket(t, c.Eps, c.S, c.T).bound
		}
		if want == 0 {
			want = recorded
		}
		root, err := b.checkedRoot(c.N, c.Delta)
		if off := root/want - 1; err != nil || off < -1e-11 || off > 1e-9 {
			t.Errorf("n=%d eps=%v %s: without the margin %v, want %v (off by %.2g), error %v", c.N, c.Eps, c.Family, root, want, off, err)
		}
		got := math.Min(c.Eps, root*(1+safetyMargin)) // TestSafetyMargin: what Epsilon returns
		if off := got/recorded - 1; off < -1e-9 || off > 1e-6 {
			t.Errorf("n=%d eps=%v %s: got %v, recorded %v (off by %.2g)", c.N, c.Eps, c.Family, got, recorded, off)
		}
		if got < c.Pair {
			t.Errorf("n=%d eps=%v %s: got %v below the pair %v", c.N, c.Eps, c.Family, got, c.Pair)
		}
	}
}

func TestSafetyMargin(t *testing.T) {
	for _, c := range []struct {
		a Amplification
		b bound
	}{
		{mustBlanket(t, 1, 4, 17), mustBlanket(t, 1, 4, 17).bound},
		{mustClone(t, 1), mustClone(t, 1).bound},
	} {
		for _, n := range []int{2, 100, 10_000} {
			for _, delta := range []float64{1e-300, 1e-6, 0.4} {
				want := math.Min(1, c.b.root(n, delta)*(1+5e-7))
				if got := mustEpsilon(t, c.a, n, delta); got != want {
					t.Errorf("%T: Epsilon(%d, %v) = %v, want %v", c.a, n, delta, got, want)
				}
			}
		}
	}
}

func TestAmplificationErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	amplifications := []Amplification{mustBlanket(t, 1, 4, 17), mustClone(t, 1)}
	for _, c := range []struct {
		n       int
		epsilon float64
		want    string
	}{
		{1, 0.1, "privacy: number of users: got 1, must be in [2, 1000000000]"},
		{1_000_000_001, 0.1, "privacy: number of users: got 1000000001, must be in [2, 1000000000]"},
		{100, -0.1, "privacy: central epsilon: got -0.1, must be finite and >= 0"},
		{100, nan, "privacy: central epsilon: got NaN, must be finite and >= 0"},
		{100, inf, "privacy: central epsilon: got +Inf, must be finite and >= 0"},
	} {
		for _, a := range amplifications {
			if _, err := a.Delta(c.n, c.epsilon); err == nil || err.Error() != c.want {
				t.Errorf("%T: Delta(%d, %v): got error %v, want %q", a, c.n, c.epsilon, err, c.want)
			}
		}
	}
	for _, c := range []struct {
		n     int
		delta float64
		want  string
	}{
		{0, 0.1, "privacy: number of users: got 0, must be in [2, 1000000000]"},
		{100, 0, "privacy: delta: got 0, must be in (0, 1)"},
		{100, 1, "privacy: delta: got 1, must be in (0, 1)"},
		{100, -1e-9, "privacy: delta: got -1e-09, must be in (0, 1)"},
		{100, nan, "privacy: delta: got NaN, must be in (0, 1)"},
	} {
		for _, a := range amplifications {
			if _, err := a.Epsilon(c.n, c.delta); err == nil || err.Error() != c.want {
				t.Errorf("%T: Epsilon(%d, %v): got error %v, want %q", a, c.n, c.delta, err, c.want)
			}
		}
	}
}
