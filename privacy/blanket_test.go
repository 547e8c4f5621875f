package privacy

import (
	"math"
	"testing"
)

// Every recorded cell, to 10^-9 from above and never below. In three cells the
// recorded ε_c is itself off by up to 2.7e-7 and its recomputed value is used; the
// recorded one must still agree to 10^-6.
func TestEpsilonMatchesRecordedCells(t *testing.T) {
	cells := readGolden(t).Cells
	if len(cells) != 42 {
		t.Fatalf("got %d cells, want 42", len(cells))
	}
	for _, c := range cells {
		if testing.Short() && c.N > 10_000 && c.Recomputed == 0 {
			continue
		}
		got := mustEpsilon(t, mustBlanket(t, c.Eps, c.S, c.T), c.N, c.Delta)
		if off := math.Abs(got/c.Blanket - 1); off > 1e-6 {
			t.Errorf("n=%d eps=%v s=%d: got %v, recorded %v (off by %.2g)", c.N, c.Eps, c.S, got, c.Blanket, off)
		}
		want := c.Blanket
		if c.Recomputed != 0 {
			want = c.Recomputed
		}
		if off := got/want - 1; off < -1e-11 || off > 1e-9 {
			t.Errorf("n=%d eps=%v s=%d: got %v, want %v (off by %.2g)", c.N, c.Eps, c.S, got, want, off)
		}
		if got < c.Pair {
			t.Errorf("n=%d eps=%v s=%d: got %v below the pair %v", c.N, c.Eps, c.S, got, c.Pair)
		}
	}
}

func TestParameterErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		epsilon         float64
		sparsity, slots int
		want            string
	}{
		{0, 1, 4, "privacy: epsilon: got 0, must be in (0, 20]"},
		{-1, 1, 4, "privacy: epsilon: got -1, must be in (0, 20]"},
		{20.001, 1, 4, "privacy: epsilon: got 20.001, must be in (0, 20]"},
		{nan, 1, 4, "privacy: epsilon: got NaN, must be in (0, 20]"},
		{inf, 1, 4, "privacy: epsilon: got +Inf, must be in (0, 20]"},
		{1, 0, 4, "privacy: sparsity: got 0, must be >= 1"},
		{1, 4, 4, "privacy: slots: got 4, must be > sparsity = 4"},
		{1, 4, -1, "privacy: slots: got -1, must be > sparsity = 4"},
	} {
		if b, err := NewBlanket(c.epsilon, c.sparsity, c.slots); err == nil || err.Error() != c.want || b != nil {
			t.Errorf("NewBlanket(%v, %d, %d): got %v, %v, want error %q", c.epsilon, c.sparsity, c.slots, b, err, c.want)
		}
	}
	b := mustBlanket(t, 1, 4, 17)
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
		if _, err := b.Delta(c.n, c.epsilon); err == nil || err.Error() != c.want {
			t.Errorf("Delta(%d, %v): got error %v, want %q", c.n, c.epsilon, err, c.want)
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
		if _, err := b.Epsilon(c.n, c.delta); err == nil || err.Error() != c.want {
			t.Errorf("Epsilon(%d, %v): got error %v, want %q", c.n, c.delta, err, c.want)
		}
	}
}

// At and above the local epsilon pure differential privacy needs no δ; just below it
// δ is small but not zero.
func TestDeltaAtTheLocalEpsilon(t *testing.T) {
	for _, epsilon := range []float64{1e-3, 1, 20} {
		b := mustBlanket(t, epsilon, 2, 9)
		for _, above := range []float64{epsilon, 2 * epsilon, 1e300} {
			if d := mustDelta(t, b, 3, above); d != 0 {
				t.Errorf("eps=%v: Delta(3, %v) = %v, want 0", epsilon, above, d)
			}
		}
		if d := mustDelta(t, b, 3, math.Nextafter(epsilon, 0)); !(d > 0 && d < 1e-12*math.Exp(epsilon)) {
			t.Errorf("eps=%v: just below: Delta = %v", epsilon, d)
		}
	}
}

// Below 1e-170 the Chernoff bound takes over and only smallness is asked for.
func TestDeltaFallsWithUsersAndEpsilon(t *testing.T) {
	users := []int{2, 3, 10, 1000}
	if !testing.Short() {
		users = append(users, 100_000)
	}
	for _, b := range []*Blanket{mustBlanket(t, 0.2, 8, 24), mustBlanket(t, 2, 3, 5), mustBlanket(t, 6, 1, 400)} {
		for _, n := range users {
			last := math.Inf(1)
			for i := range 40 {
				epsilon := b.epsilon * float64(i) / 40
				d := mustDelta(t, b, n, epsilon)
				if !(d < last || d > 0 && d < 1e-170) {
					t.Errorf("eps=%v n=%d: Delta at %v is %v, not below %v", b.epsilon, n, epsilon, d, last)
				}
				last = d
				if more := mustDelta(t, b, n+n/2, epsilon); more > d && more > 1e-170 {
					t.Errorf("eps=%v: Delta grows from %v to %v between n=%d and %d", b.epsilon, d, more, n, n+n/2)
				}
			}
		}
	}
}

// The corners of the parameter space: every result is a number in [0, ε] or [0, 1], and
// Epsilon and Delta agree with each other.
func TestCorners(t *testing.T) {
	users := []int{2, 5, 1000}
	if !testing.Short() {
		users = append(users, 1_000_000)
	}
	for _, epsilon := range []float64{5e-324, 1e-300, 1e-3, 1, 20} {
		for _, shape := range [][2]int{{1, 2}, {1, 3}, {3, 4}, {64, 128}, {1, 500_000_000}, {7, math.MaxInt}, {math.MaxInt - 1, math.MaxInt}} {
			for _, n := range users {
				checkCorner(t, epsilon, shape, n, []float64{5e-324, 1e-15, 1e-6, 0.999999})
			}
		}
	}
}

func TestCornersAtABillionUsers(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	for _, epsilon := range []float64{1e-3, 20} {
		for _, shape := range [][2]int{{1, 3}, {1, 500_000_000}} {
			checkCorner(t, epsilon, shape, 1_000_000_000, []float64{1e-15, 0.999999})
		}
	}
}

func checkCorner(t *testing.T, epsilon float64, shape [2]int, n int, deltas []float64) {
	t.Helper()
	b := mustBlanket(t, epsilon, shape[0], shape[1])
	for _, share := range []float64{0, 1e-12, 0.5, 1 - 1e-12} {
		if d := mustDelta(t, b, n, share*epsilon); !(d >= 0 && d <= 1) {
			t.Errorf("eps=%v s,t=%v n=%d: Delta(%v eps) = %v", epsilon, shape, n, share, d)
		}
	}
	for _, delta := range deltas {
		got := mustEpsilon(t, b, n, delta)
		if !(got >= 0 && got <= epsilon) {
			t.Errorf("eps=%v s,t=%v n=%d: Epsilon(%v) = %v", epsilon, shape, n, delta, got)
		}
		if d := mustDelta(t, b, n, got); d > delta {
			t.Errorf("eps=%v s,t=%v n=%d: Delta at Epsilon(%v) is %v", epsilon, shape, n, delta, d)
		}
	}
}
