package privacy

import (
	"fmt"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/root"
)

var _ = []fl.Amplification{(*Blanket)(nil), (*Clone)(nil)}

// Every recorded cell of both bounds and of the pair. Without the safety margin the numbers
// agree to 10^-9, and the bounds' numbers are never below; in three cells the recorded ε_c
// is itself off by up to 2.7e-7 and its recomputed value is used. What Epsilon returns has the
// margin: it stays within 10^-6 of each recorded value and is not below any of them.
func TestRecordedCells(t *testing.T) {
	cells := readGolden(t).Cells
	if len(cells) != 63 {
		t.Fatalf("got %d cells, want 63", len(cells))
	}
	for _, c := range cells {
		if !*Long && c.N > 10_000 && c.Recomputed == 0 && c.Clone == 0 {
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
		root := b.root(c.N, c.Delta)
		if off := root/want - 1; !(off >= -1e-11 && off <= 1e-9) {
			t.Errorf("n=%d eps=%v %s: without the margin %v, want %v (off by %.2g)", c.N, c.Eps, c.Family, root, want, off)
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
		a fl.Amplification
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
	amplifications := []fl.Amplification{mustBlanket(t, 1, 4, 17), mustClone(t, 1)}
	for _, c := range []struct {
		n       int
		epsilon float64
		want    string
	}{
		{1, 0.1, "privacy: clients: got 1, rule: must be in [2, 1000000000]"},
		{1_000_000_001, 0.1, "privacy: clients: got 1000000001, rule: must be in [2, 1000000000]"},
		{100, -0.1, "privacy: epsilonCentral: got -0.1, rule: must be finite and >= 0"},
		{100, nan, "privacy: epsilonCentral: got NaN, rule: must be finite and >= 0"},
		{100, inf, "privacy: epsilonCentral: got +Inf, rule: must be finite and >= 0"},
	} {
		for _, a := range amplifications {
			if _, err := a.Delta(c.n, c.epsilon); !isInvalid(err, c.want) {
				t.Errorf("%T: Delta(%d, %v): got error %v, want %q", a, c.n, c.epsilon, err, c.want)
			}
		}
	}
	for _, c := range []struct {
		n     int
		delta float64
		want  string
	}{
		{0, 0.1, "privacy: clients: got 0, rule: must be in [2, 1000000000]"},
		{100, 0, "privacy: delta: got 0, rule: must be in (0, 1)"},
		{100, 1, "privacy: delta: got 1, rule: must be in (0, 1)"},
		{100, -1e-9, "privacy: delta: got -1e-09, rule: must be in (0, 1)"},
		{100, nan, "privacy: delta: got NaN, rule: must be in (0, 1)"},
	} {
		for _, a := range amplifications {
			if _, err := a.Epsilon(c.n, c.delta); !isInvalid(err, c.want) {
				t.Errorf("%T: Epsilon(%d, %v): got error %v, want %q", a, c.n, c.delta, err, c.want)
			}
		}
	}
}

// The root of Delta is found from above: Delta there is at most δ, and a little below
// it is more.
func TestRootInvertsDelta(t *testing.T) {
	for _, c := range []struct {
		epsilon         float64
		sparsity, slots int
	}{{0.1, 4, 11}, {1, 3, 5}, {2, 8, 70}, {8, 1, 3000}, {20, 2, 9}} {
		b := mustBlanket(t, c.epsilon, c.sparsity, c.slots)
		for _, n := range []int{2, 30, 1000, 20_000} {
			if n == 20_000 && !*Long {
				continue
			}
			for _, delta := range []float64{1e-15, 1e-6, 0.5} {
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
func TestEpsilonFallsWithClientsAndDelta(t *testing.T) {
	b := mustBlanket(t, 1.5, 4, 25)
	clients := []int{2, 10, 100, 1000}
	if *Long {
		clients = append(clients, 5000)
	}
	for _, n := range clients {
		last := math.Inf(1)
		for exponent := -15; exponent < 0; exponent += 2 {
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
