package gkmps

import (
	"fmt"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// Messages per client at n = 10^5, ε = 1, δ = 10^-12 under ReplaceOne and ZeroOut,
// computed independently in Python with exact tails and ε1:ε2 near 10:90. This
// package bounds the tail instead, which costs 0.2 %, and chooses ε1:ε2 by U, which
// saves up to 2 %.
func TestTightMessages(t *testing.T) {
	for _, c := range []struct {
		bound           int64
		replace, zeroed float64
	}{
		{1, 0.0221, 0.0221}, {2, 0.629, 0.396}, {4, 2.12, 1.26}, {8, 11.1, 6.03}, {16, 29.9, 16.0}, {64, 263, 137}, {1000, 11330, 5750},
	} {
		for relation, want := range map[fl.Relation]float64{fl.ReplaceOne: c.replace, fl.ZeroOut: c.zeroed} {
			p, err := New(Config{Clients: 100000, Bound: c.bound, Epsilon: 1, Delta: 1e-12, Relation: relation, Calibration: Tight})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.ExpectedMessages(); got > 1.004*want || got < 0.97*want {
				t.Errorf("U = %d, %s: %.5g messages, want %.5g", c.bound, relation, got, want)
			} else {
				t.Logf("U = %d, %s: %.5g messages", c.bound, relation, got)
			}
		}
	}
}

// The columns of small U in full, by hand: c_1 = {}, c_2 = {2:1, 1:−2},
// c_3 = {3:1, −2:−1, 1:−1}, c_4 = {4:1, −2:−2}.
func TestReach(t *testing.T) {
	r := reachOf(4)
	if r.norm != 8 || r.terms != 3 || fmt.Sprint(r.spread) != "map[-2:2 1:2 2:1 3:1 4:1]" {
		t.Errorf("U = 4: %+v", r)
	}
	// c_8 = {8:1, −4:−2, 2:4, 1:−8} has the largest norm, and c_5 = {5:1, −3:−1, −2:−1, 2:1, 1:−2},
	// c_6 and c_7 reach row 2 from the other side: never below 0.
	if r = reachOf(8); r.norm != 32 || r.terms != 5 || r.spread[2] != 4 || r.spread[1] != 8 || r.spread[-4] != 2 {
		t.Errorf("U = 8: %+v", r)
	}
	for _, bound := range []int64{2, 17, 512, 1000} {
		if r := reachOf(bound); r.norm > dominance(bound) {
			t.Errorf("U = %d: Γ* = %d > Γ = %d", bound, r.norm, dominance(bound))
		}
	}
}

// What the proof adds up (package comment), from the laws that New returns: for all pairs of
// neighbours Σ_s η_s·|C_{s,x}−C_{s,x'}| <= ε2 and the failure probabilities sum to at
// most δ2, where ε2 and δ2 are what D-hat leaves of λε and δ.
func TestTightSpendsItsBudget(t *testing.T) {
	const eps, delta = 0.7, 1e-7
	for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
		for _, bound := range []int64{2, 3, 4, 7, 8, 13, 40} {
			p, err := New(Config{Clients: 10, Bound: bound, Epsilon: eps, Delta: delta, Relation: relation, Calibration: Tight})
			if err != nil {
				t.Fatal(err)
			}
			// The η that D copies' law of n hides is not stored. It is the least one that hides accepts.
			least := func(f Flood, shift int64, logDelta float64) float64 {
				lo, hi := f.Total.Eta, 100*f.Total.Eta
				for range 60 {
					if mid := (lo + hi) / 2; hides(f.Total, mid, shift, logDelta) {
						hi = mid
					} else {
						lo = mid
					}
				}
				return hi
			}
			floods, r := p.Floods(), reachOf(bound)
			eps1 := least(floods[2], bound, math.Log(delta/2)) * float64(bound)
			loss := map[int64]float64{}
			touched := min(int(changed(relation))*r.terms, len(floods)-3)
			for _, f := range floods[3:] {
				i := f.Messages[0]
				loss[i] = least(f, r.spread[i], math.Log(delta/2/float64(touched)))
			}
			worst := 0.0
			for x := int64(0); x <= bound; x++ {
				for y := int64(0); y < x; y++ {
					if relation == fl.ZeroOut && y != 0 {
						continue
					}
					sum, differ := 0.0, 0
					cx, cy := columnMap(x), map[int64]int64{}
					if y > 0 {
						cy = columnMap(y)
					}
					for i := range loss {
						if d := magnitude(cx[i] - cy[i]); d > 0 {
							sum += loss[i] * float64(d)
							differ++
							if d > r.spread[i] {
								t.Errorf("U = %d: row %d moves by %d between %d and %d, want at most %d", bound, i, d, x, y, r.spread[i])
							}
						}
					}
					worst = max(worst, sum)
					if differ > touched {
						t.Errorf("U = %d, %s: %d rows differ between %d and %d, want at most %d", bound, relation, differ, x, y, touched)
					}
				}
			}
			if total := eps1 + worst; total > lambda*eps*(1+1e-3) {
				t.Errorf("U = %d, %s: ε1+ε2 = %.6g > λε = %.6g", bound, relation, total, lambda*eps)
			}
			if relation == fl.ZeroOut && eps1+worst < 0.98*lambda*eps {
				t.Errorf("U = %d: ε1+ε2 = %.6g leaves some of λε = %.6g", bound, eps1+worst, lambda*eps)
			}
		}
	}
}

// What leastFlood returns is private: the exact hockey-stick divergences of Z and
// Z+k, in both directions, for all shifts k up to D.
func TestLeastFloodHidesShifts(t *testing.T) {
	for _, eta := range []float64{0.003, 0.03, 0.3, 3} {
		for _, shift := range []int64{1, 2, 5, 30} {
			for _, delta := range []float64{0.4, 1e-2, 1e-6, 1e-12} {
				d := leastFlood(eta, shift, math.Log(delta))
				if d.R <= 1 || d.Eta <= 0 || d.Eta > eta {
					t.Fatalf("η = %g, D = %d, δ = %g: %+v", eta, shift, delta, d)
				}
				c := countsOf(d)
				for k := int64(1); k <= shift; k++ {
					if up, down := c.divergence(k, eta), c.divergence(-k, eta); max(up, down) > delta {
						t.Errorf("η = %g, D = %d, δ = %g, %+v: divergences %.3g and %.3g for shift %d", eta, shift, delta, d, up, down, k)
					}
				}
			}
		}
	}
}

// divergence returns the divergence of Y from Y+shift of order e^{|shift|·eta}, up to 1e-15.
func (c countLaw) divergence(shift int64, eta float64) (sum float64) {
	q := math.Exp(math.Abs(float64(shift)) * eta)
	for k, p := range c.prob {
		other := 0.0
		if at := int64(k) - shift; at >= 0 && at < int64(len(c.prob)) {
			other = c.prob[at]
		} else if at > 0 {
			continue
		}
		sum += max(0, p-q*other)
	}
	return sum
}

// below returns P[Z < k] for k left of the mode: the terms fall from k − 1 down, and what is left out is below 1e-12 of the sum.
func below(d sample.NegativeBinomial, k int64) (sum float64) {
	for z := k - 1; z >= 0; z-- {
		p := math.Exp(d.LogProb(z))
		if sum += p; float64(k)*p < 1e-12*sum {
			break
		}
	}
	return sum
}

// The bound of hides on P[Z < k*] is above the exact sum, and the least shape
// exhausts δ up to 15 %: there is no slack from a wrong k*. And left of k* the loss
// exceeds η for some shift of D, or k* would be too large.
func TestLeastShapeExhaustsDelta(t *testing.T) {
	etas := []float64{1e-3, 0.03}
	if *long { // its exact sums have 10⁹ terms
		etas = append(etas, 1e-6)
	}
	for _, eta := range etas {
		for _, shift := range []int64{1, 5, 30} {
			for _, delta := range []float64{1e-3, 1e-6, 1e-12, 1e-100} {
				d := leastShape(0.45*eta, eta, shift, math.Log(delta))
				threshold := float64(shift-1) + (d.R-1)/math.Expm1(d.Eta+eta)
				k := int64(math.Ceil(threshold))
				exact := below(d, k)
				if exact > delta*(1+1e-9) || exact < 0.6*delta {
					t.Errorf("η = %g, D = %d, δ = %g: P[Z < %d] = %.4g", eta, shift, delta, k, exact)
				}
				// The largest loss of one unit, at the lower end of a shift of D.
				loss := func(z int64) float64 { return d.LogProb(z-shift+1) - d.LogProb(z-shift) }
				if delta > 1e-10 && eta > 1e-4 && (loss(k) > eta*(1+1e-6) || loss(k-2) < eta) {
					t.Errorf("η = %g, D = %d, δ = %g: losses %.6g at k* = %d, %.6g left of it", eta, shift, delta, loss(k), k, loss(k-2))
				}
			}
		}
	}
}

// No a of a fine grid has a mean smaller by more than 0.3 %, which is the effect of k* being an
// integer.
func TestLeastFloodIsLeast(t *testing.T) {
	for _, eta := range []float64{1e-5, 0.01, 0.2} {
		for _, shift := range []int64{1, 8} {
			const logDelta = -25
			least := math.Inf(1)
			for a := 0.01; a <= 1; a += 0.01 {
				least = min(least, leastShape(a*eta, eta, shift, logDelta).Mean())
			}
			if got := leastFlood(eta, shift, logDelta).Mean(); got > 1.003*least {
				t.Errorf("η = %g, D = %d: mean %g, the grid has %g", eta, shift, got, least)
			}
		}
	}
}

// Reusing a costs next to nothing and is as private.
func TestSolverReusesDecays(t *testing.T) {
	s := solver{logDelta: -30, decays: map[int64]decay{}}
	solved := map[float64]bool{}
	for eta := 1e-3; eta < 2e-3; eta *= 1.01 {
		got, want := s.flood(eta, 3), leastFlood(eta, 3, -30)
		if !hides(got, eta, 3, -30) || got.Mean() > 1.002*want.Mean() {
			t.Errorf("η = %g: %+v of mean %g, want %+v of mean %g", eta, got, got.Mean(), want, want.Mean())
		}
		solved[s.decays[3].eta] = true
	}
	if len(solved) > 8 {
		t.Errorf("%d searches for η over a factor 2, want at most 8", len(solved))
	}
}

func TestHidesRefusesTooLittle(t *testing.T) {
	d := leastShape(0.01, 0.02, 4, math.Log(1e-6))
	less := sample.NegativeBinomial{R: 0.99 * d.R, Eta: d.Eta}
	switch {
	case !hides(d, 0.02, 4, math.Log(1e-6)):
		t.Error("the least shape is refused")
	case hides(less, 0.02, 4, math.Log(1e-6)):
		t.Error("1 % less is accepted")
	case hides(d, 0.02, 4, math.Log(0.5e-6)):
		t.Error("half of δ is accepted")
	case hides(d, 0.02, 400, math.Log(1e-6)):
		t.Error("a hundred times the shift is accepted")
	}
}
