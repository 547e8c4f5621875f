package rivals

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/keyvalue"
)

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

// Optimized and NonOptimized spend all of ε, Naive less. For rare keys Optimized has the least
// error in the means and beats Naive in the frequencies, where NonOptimized is better still.
func TestAllocationsSpendTheirBudget(t *testing.T) {
	for _, epsilon := range []float64{0.1, 1, 3, 8} {
		for _, padding := range []int{1, 2, 10} {
			var frequency, mean [3]float64
			for _, a := range []Allocation{Optimized, NonOptimized, Naive} {
				b, err := a.GRR(epsilon, padding)
				if err != nil {
					t.Fatal(err)
				}
				total := b.GRRTotal(padding)
				if a == Naive && !(total < epsilon) || a != Naive && !near(total, epsilon, 1e-12) {
					t.Errorf("allocation %d, ε %g, ℓ %d: %+v spends %g", a, epsilon, padding, b, total)
				}
				if a != Optimized && b.Value != epsilon/2 || a == Naive && b.Key != epsilon/2 {
					t.Errorf("allocation %d: %+v", a, b)
				}
				if want := math.Log((math.Exp(epsilon) + math.Exp(epsilon/2)) / 2); a == NonOptimized && padding == 1 && !near(b.Key, want, 1e-12) {
					t.Errorf("ε1 is %g, (21) says %g", b.Key, want)
				}
				c := b.GRR(100, padding)
				if padding == 1 {
					if u, err := a.UE(epsilon); u != b || err != nil || !near(u.UETotal(), total, 1e-12) {
						t.Errorf("allocation %d, ε %g: UE gets %+v and spends %g (%v)", a, epsilon, u, u.UETotal(), err)
					}
					c = b.UE()
				}
				frequency[a], mean[a] = c.FrequencyMSE(padding, 0, 1), c.MeanMSE(padding, 1e-6, 0, 1)
			}
			for _, a := range []Allocation{NonOptimized, Naive} {
				if !(mean[a] > mean[Optimized]) || (frequency[a] > frequency[Optimized]) != (a == Naive) {
					t.Errorf("ε %g, ℓ %d: allocation %d has errors %g, %g, Optimized %g, %g", epsilon, padding, a, frequency[a], mean[a], frequency[Optimized], mean[Optimized])
				}
			}
		}
	}
	if _, err := Allocation(3).UE(1); err == nil {
		t.Error("allocation 3 is accepted")
	}
	for _, epsilon := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := NonOptimized.UE(epsilon); err == nil {
			t.Errorf("ε %g is accepted", epsilon)
		}
	}
}

// An optimized budget has the channels of Lemmas 2 and 3 in closed form.
func TestOptimizedBudgetsHaveTheChannelsOfTheLemmas(t *testing.T) {
	const dim, padding = 50, 4.
	for _, epsilon := range []float64{0.01, 0.5, 2, 10} {
		signal, d := math.Expm1(epsilon), float64(dim+padding)
		unary, err := Optimized.UE(epsilon)
		plain, errPlain := Optimized.GRR(epsilon, 1)
		gaining, errGaining := Optimized.GRR(epsilon, padding)
		if err := errors.Join(err, errPlain, errGaining); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			got     keyvalue.Channel
			a, b, p float64
		}{
			{unary.UE(), 0.5, 2 / (signal + 4), (signal + 1) / (signal + 2)},
			{plain.GRR(dim, padding), (signal + 2) / (signal + 2*d), 2 / (signal + 2*d), (signal + 1) / (signal + 2)},
			{gaining.GRR(dim, padding), (padding*signal + 2) / (padding*signal + 2*d), 2 / (padding*signal + 2*d), (padding*signal + 1) / (padding*signal + 2)},
		} {
			if !near(c.got.Background, c.b, 1e-9) || !near(c.got.Hold, c.a-c.b, 1e-9) || !near(c.got.Sign, c.a*(2*c.p-1), 1e-9) {
				t.Errorf("ε %g: %+v, want a %g, b %g, p %g", epsilon, c.got, c.a, c.b, c.p)
			}
		}
	}
}

// Theorem 2 with the larger of its two terms either way, by hand: ε1 = ln 3, ε2 = ln 2
// give ln(3·2/(1+1/2)) = ln 4, and ε1 = 0, ε2 = ln 3 give max(ln 3, ln 1.5). Theorem 3
// with ε1 = ln 3, ε2 = ln 2: λ = 1.5(ℓ−1), (6+λ)/(1.5+λ).
func TestTotalsByHand(t *testing.T) {
	ln := math.Log
	for _, c := range []struct{ got, want float64 }{
		{Budget{ln(3), ln(2)}.UETotal(), ln(4)},
		{Budget{0, ln(3)}.UETotal(), ln(3)},
		{Budget{ln(3), ln(2)}.GRRTotal(1), ln(4)},
		{Budget{ln(3), ln(2)}.GRRTotal(3), ln(2)},
		{Budget{ln(1.2), ln(2)}.GRRTotal(1), ln(2)},
	} {
		if !near(c.got, c.want, 1e-12) {
			t.Errorf("got %g, want %g", c.got, c.want)
		}
	}
}
