package privacy

import (
	"fmt"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/internal/binomial"
)

// Delta against the sum over every outcome in 320-bit arithmetic: never below it, and above
// by at most 10^-12 of it. The second, absolute part of the tolerance is the amount
// by which drift is lowered, 2^-48·q·(e^ε − 1) per message of kind A or B; it shows only
// where ε_c nears ε and the exact value itself is a rounding error.
func TestDeltaMatchesEnumeration(t *testing.T) {
	clients := []int{2, 3, 7, 20}
	if *Long {
		clients = append(clients, 60)
	}
	for _, shape := range []struct {
		epsilon         float64
		sparsity, slots int
	}{
		{1e-3, 1, 2}, {0.1, 4, 11}, {0.5, 2, 3}, {1, 3, 5}, {1, 1, 4}, {2, 4, 36}, {3, 5, 6}, {5, 1, 150}, {20, 2, 9}, {1, 1, 1_000_000},
	} {
		b := mustBlanket(t, shape.epsilon, shape.sparsity, shape.slots)
		e := bigExp(shape.epsilon)
		for _, n := range clients {
			for _, share := range []float64{0, 1e-9, 0.05, 0.3, 0.5, 0.9, 0.9999} {
				epsilonCentral := share * shape.epsilon
				want := blanketKinds(e, shape.sparsity, shape.slots).sum(bigExp(epsilonCentral), n)
				got := mustDelta(t, b, n, epsilonCentral)
				if bigOf(got).Cmp(want) < 0 {
					t.Errorf("%v n=%d eps_c=%v: got %v, below the exact %v", shape, n, epsilonCentral, got, want.Text('g', 20))
				}
				exact, _ := want.Float64()
				tolerance := exact*1e-12 + 0x1p-48*b.gain*b.paired*math.Exp(epsilonCentral)
				if got-exact > tolerance {
					t.Errorf("%v n=%d eps_c=%v: got %v, exact %v, off by %.3g", shape, n, epsilonCentral, got, exact, got/exact-1)
				}
			}
		}
	}
}

// References by the literal sum over A + B and R, inner sum over A by suffix sums: 113-bit
// starting probabilities, 64-bit sums, windows of nine standard deviations, in a
// separate C program. The tolerance from above is the documented 10^-7.
func TestDeltaMatchesDoubleSum(t *testing.T) {
	for _, c := range []struct {
		n               int
		epsilon         float64
		sparsity, slots int
		epsilonCentral  float64
		want            float64
	}{
		{100_000, 1, 4, 6, 0.02, 8.99081780749716945e-15},
		{100_000, 2, 3, 6, 0.05, 3.76208516979402834e-10},
		{100_000, 0.3, 2, 3, 0.005, 4.99822934257448777e-14},
		{1_000_000, 5, 4, 600, 0.0413, 1.00291164204068641e-06},
		{1_000_000, 5, 4, 600, 0.0001, 0.00477299268227648433},
		{1_000_000, 1, 4, 17, 0.006, 1.27337013499416882e-13},
		{10_000_000, 8, 1, 3000, 0.05, 9.52779349607969026e-06},
		{10_000_000, 12, 1, 200_000, 0.5, 5.25910798026242571e-07},
		{1_000_000_000, 5, 4, 600, 0.0025, 1.72601468357171039e-15},
	} {
		if c.n == 10_000_000 && !*Long {
			continue
		}
		got := mustDelta(t, mustBlanket(t, c.epsilon, c.sparsity, c.slots), c.n, c.epsilonCentral)
		// The reference itself cuts at nine deviations: 10^-9 below is allowed.
		if off := got/c.want - 1; off < -1e-9 || off > 1e-7 {
			t.Errorf("%+v: got %v, off by %.3g", c, got, off)
		}
	}
}

// The pair differs from the blanket only by Jensen's inequality on R, so at every n it is a
// lower bound, and with t = 2s, where R = 0, the two are equal.
func TestDeltaAgainstThePair(t *testing.T) {
	for _, c := range []struct {
		epsilon         float64
		sparsity, slots int
	}{{0.1, 4, 11}, {1, 4, 17}, {3, 2, 60}, {0.5, 8, 16}, {2, 3, 6}} {
		b := mustBlanket(t, c.epsilon, c.sparsity, c.slots)
		for _, n := range []int{10, 300, 5000} {
			for _, share := range []float64{0.01, 0.05, 0.2} {
				got := mustDelta(t, b, n, share*c.epsilon)
				pair := twoCounters(n, c.epsilon, b.paired/2, b.paired/2, share*c.epsilon)
				if pair < 1e-100 {
					continue
				}
				if got < pair*(1-1e-10) {
					t.Errorf("%+v n=%d: blanket %v below the pair %v", c, n, got, pair)
				}
				if c.slots == 2*c.sparsity && math.Abs(got/pair-1) > 1e-10 {
					t.Errorf("%+v n=%d: blanket %v, pair %v, want equal", c, n, got, pair)
				}
			}
		}
	}
}

// One table per value of K is exact; a table per block may only raise the result, and
// with the ordinary budget by less than 10^-7 wherever δ >= 10^-15.
func TestBlocksRaiseDelta(t *testing.T) {
	for _, n := range []int{3000, 100_000, 1_000_000} {
		if !*Long && n > 100_000 {
			continue
		}
		b := mustBlanket(t, 1, 1, 4)
		epsilonCentral := b.root(n, 1e-15)
		exact := b.deltaWith(n, epsilonCentral, &tables{budget: math.MaxInt})
		last := exact
		for _, budget := range []int{tableBudget, 300_000, 3000} {
			got := b.deltaWith(n, epsilonCentral, &tables{budget: budget})
			if got < last*(1-1e-11) {
				t.Errorf("n=%d: budget %d gives %v, below %v", n, budget, got, last)
			}
			if budget == tableBudget && got/exact-1 > 1e-7 {
				t.Errorf("n=%d: the ordinary budget overestimates by %.3g", n, got/exact-1)
			}
			last = got
		}
		if n > 3000 && !(last > exact*(1+1e-9)) {
			t.Errorf("n=%d: a budget of 3000 entries changes nothing: blocks are not in use", n)
		}
	}
}

// Where not every k can have its own table, the tables stay within their budget (apart
// from a few dozen far out below the mean) and are kept longest where the weight is least.
func TestBlockLength(t *testing.T) {
	b := mustBlanket(t, 1, 1, 4)
	for _, n := range []int{300_000, 1_000_000} {
		l := b.losses(b.chernoffEpsilon(n, 1e-9))
		tilted := b.tilt(l, n)
		first := binomial.LowerQuantile(n, tilted.paired, tilted.unpaired, binomial.LogTail)
		last := binomial.UpperQuantile(n, tilted.paired, tilted.unpaired, binomial.LogTail)
		mean := int(float64(n) * tilted.paired)
		work := 20 / float64(last-first) // the budget has one table for twenty k
		tables := 0
		for k := first; k <= last; tables++ {
			k += b.blockLength(l, tilted, n, k, last-first+1, work)
		}
		if limit := 1/work + 60; float64(tables) > limit {
			t.Errorf("n=%d: %d tables, want at most %v", n, tables, limit)
		}
		length := func(k int) int { return b.blockLength(l, tilted, n, k, last-first+1, work) }
		if middle := length(mean); middle > 10 || length(last) < 20*middle || length(first) < 20*middle {
			t.Errorf("n=%d: lengths %d, %d, %d at the lower end, the mean and the upper end", n, length(first), middle, length(last))
		}
	}
}

func BenchmarkDelta(b *testing.B) {
	for _, n := range []int{1000, 10_000, 1_000_000, 1_000_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			blanket := mustBlanket(b, 1, 4, 17)
			epsilonCentral := mustEpsilon(b, blanket, n, 1e-6)
			for b.Loop() {
				mustDelta(b, blanket, n, epsilonCentral)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms/delta")
		})
	}
}
