package privacy

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestNewBlanketErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		epsilon         float64
		sparsity, slots int
		want            string
	}{
		{0, 1, 4, "privacy: epsilon: got 0, rule: must be in (0, 20]"},
		{-1, 1, 4, "privacy: epsilon: got -1, rule: must be in (0, 20]"},
		{20.001, 1, 4, "privacy: epsilon: got 20.001, rule: must be in (0, 20]"},
		{nan, 1, 4, "privacy: epsilon: got NaN, rule: must be in (0, 20]"},
		{inf, 1, 4, "privacy: epsilon: got +Inf, rule: must be in (0, 20]"},
		{1, 0, 4, "privacy: sparsity: got 0, rule: must be >= 1"},
		{1, 4, 4, "privacy: slots: got 4, rule: must be > sparsity = 4"},
		{1, 4, -1, "privacy: slots: got -1, rule: must be > sparsity = 4"},
	} {
		if b, err := NewBlanket(c.epsilon, c.sparsity, c.slots); !isInvalid(err, c.want) || b != nil {
			t.Errorf("NewBlanket(%v, %d, %d): got %v, %v, want error %q", c.epsilon, c.sparsity, c.slots, b, err, c.want)
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
func TestDeltaFallsWithClientsAndEpsilon(t *testing.T) {
	clients := []int{2, 3, 10, 1000}
	if *Long {
		clients = append(clients, 100_000)
	}
	for _, b := range []bound{
		mustBlanket(t, 0.2, 8, 24).bound, mustBlanket(t, 2, 3, 5).bound, mustBlanket(t, 6, 1, 400).bound,
		mustClone(t, 0.2).bound, mustClone(t, 6).bound,
	} {
		for _, n := range clients {
			last := math.Inf(1)
			for i := range 40 {
				epsilon := b.epsilon * float64(i) / 40
				d := b.deltaWith(n, epsilon, &tables{budget: tableBudget})
				if !(d < last || d > 0 && d < 1e-170) {
					t.Errorf("eps=%v n=%d: Delta at %v is %v, not below %v", b.epsilon, n, epsilon, d, last)
				}
				last = d
				if more := b.deltaWith(n+n/2, epsilon, &tables{budget: tableBudget}); more > d && more > 1e-170 {
					t.Errorf("eps=%v: Delta grows from %v to %v between n=%d and %d", b.epsilon, d, more, n, n+n/2)
				}
			}
		}
	}
}

// The corners of the parameter space: every result is a number in [0, ε] or [0, 1], and
// Epsilon and Delta agree with each other.
func TestCorners(t *testing.T) {
	clients := []int{2, 5, 1000}
	if *Long {
		clients = append(clients, 1_000_000)
	}
	for _, epsilon := range []float64{5e-324, 1e-300, 1e-3, 1, 20} {
		for _, shape := range [][2]int{{1, 2}, {1, 3}, {3, 4}, {64, 128}, {1, 500_000_000}, {7, math.MaxInt}, {math.MaxInt - 1, math.MaxInt}} {
			for _, n := range clients {
				checkCorner(t, epsilon, shape, n, []float64{5e-324, 1e-15, 1e-6, 0.999999})
			}
		}
	}
}

func TestCornersAtABillionClients(t *testing.T) {
	if !*Long {
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
	checkAmplification(t, b, epsilon, n, deltas)
}

// checkAmplification wants results in range that agree with each other.
func checkAmplification(t *testing.T, b fl.Amplification, epsilon float64, n int, deltas []float64) {
	t.Helper()
	for _, share := range []float64{0, 1e-12, 0.5, 1 - 1e-12} {
		if d := mustDelta(t, b, n, share*epsilon); !(d >= 0 && d <= 1) {
			t.Errorf("%T eps=%v n=%d: Delta(%v eps) = %v", b, epsilon, n, share, d)
		}
	}
	for _, delta := range deltas {
		got := mustEpsilon(t, b, n, delta)
		if !(got >= 0 && got <= epsilon) {
			t.Errorf("%T eps=%v n=%d: Epsilon(%v) = %v", b, epsilon, n, delta, got)
		}
		if d := mustDelta(t, b, n, got); d > delta {
			t.Errorf("%T eps=%v n=%d: Delta at Epsilon(%v) is %v", b, epsilon, n, delta, d)
		}
	}
}

// The coarse bound is never below the fine one, and above it by less than 10^-5 of every δ
// that matters and 10^-2 of any other.
func TestCoarseIsALittleHigher(t *testing.T) {
	for _, c := range []struct {
		epsilon         float64
		sparsity, slots int
	}{{1, 4, 17}, {4.3, 286, 8192}, {0.5, 1, 2}} {
		fine := mustBlanket(t, c.epsilon, c.sparsity, c.slots)
		coarse := fine.Coarse()
		for _, n := range []int{100, 60_000, 1_000_000} {
			for _, part := range []float64{0.002, 0.1, 0.5} {
				at := part * c.epsilon
				want, got := mustDelta(t, fine, n, at), mustDelta(t, coarse, n, at)
				margin := 1e-5
				if want < 1e-30 {
					margin = 1e-2
				}
				if got < want*(1-1e-11) || got > want*(1+margin) {
					t.Errorf("%+v n=%d ε=%g: coarse δ is %g times %g", c, n, at, got/want, want)
				}
			}
		}
	}
}
