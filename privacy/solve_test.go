package privacy

import (
	"fmt"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/internal/root"
)

// The root of Delta is found from above: Delta there is at most δ, and a little below
// it is more.
func TestRootInvertsDelta(t *testing.T) {
	for _, c := range []struct {
		epsilon         float64
		sparsity, slots int
	}{{0.1, 4, 11}, {1, 3, 5}, {2, 8, 70}, {8, 1, 3000}, {20, 2, 9}} {
		b := mustBlanket(t, c.epsilon, c.sparsity, c.slots)
		for _, n := range []int{2, 30, 1000, 20_000} {
			for _, delta := range []float64{1e-15, 1e-9, 1e-5, 0.01, 0.5} {
				got := b.root(n, delta)
				if got < 0 || got > c.epsilon {
					t.Errorf("%+v n=%d: root(%v) = %v, outside [0, ε]", c, n, delta, got)
				}
				if d := mustDelta(t, b, n, got); d > delta {
					t.Errorf("%+v n=%d: Delta at root(%v) = %v is %v", c, n, delta, got, d)
				}
				if got == 0 {
					continue
				}
				if d := mustDelta(t, b, n, got*(1-2*root.Tolerance)); d <= delta {
					t.Errorf("%+v n=%d: root(%v) = %v is not the smallest: just below Delta is %v", c, n, delta, got, d)
				}
			}
		}
	}
}

// Falling in n and in δ. Each answer has the same margin and is otherwise within 10^-10 of the
// exact one.
func TestEpsilonFallsWithUsersAndDelta(t *testing.T) {
	b := mustBlanket(t, 1.5, 4, 25)
	users := []int{2, 10, 100, 1000}
	if !testing.Short() {
		users = append(users, 5000)
	}
	for _, n := range users {
		last := math.Inf(1)
		for exponent := -15; exponent < 0; exponent++ {
			delta := math.Pow(10, float64(exponent))
			got := mustEpsilon(t, b, n, delta)
			if got > last*(1+1e-9) || n >= 100 && got >= last && got > 0 {
				t.Errorf("n=%d: Epsilon(%v) = %v, not below %v", n, delta, got, last)
			}
			last = got
			if more := mustEpsilon(t, b, 2*n, delta); more > got*(1+1e-9) {
				t.Errorf("Epsilon(%v) grows from %v to %v between n=%d and %d", delta, got, more, n, 2*n)
			}
		}
	}
}

func TestEpsilonIsZeroForLargeDelta(t *testing.T) {
	b := mustBlanket(t, 0.5, 4, 13)
	atZero := mustDelta(t, b, 1000, 0)
	if got := mustEpsilon(t, b, 1000, atZero); got != 0 {
		t.Errorf("Epsilon(Delta(0)) = %v, want 0", got)
	}
	if got := mustEpsilon(t, b, 1000, atZero*(1-1e-6)); !(got > 0 && got < 1e-5) {
		t.Errorf("just below Delta(0): Epsilon = %v", got)
	}
}

func BenchmarkEpsilon(b *testing.B) {
	for _, n := range []int{1000, 1_000_000, 1_000_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			blanket := mustBlanket(b, 1, 4, 17)
			for b.Loop() {
				mustEpsilon(b, blanket, n, 1e-6)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms/epsilon")
		})
	}
}
