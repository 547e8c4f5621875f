package gkmps

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/internal/sample"
)

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

// divergence returns that of Y from Y+shift of order e^{|shift|·eta}, up to 1e-15.
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

// The bound of hides on P[Z < k*] is above the exact sum, and the least shape
// exhausts δ up to 15 %: there is no slack from a wrong k*. And left of k* the loss
// exceeds η for some shift of D, or k* would be too large.
func TestLeastShapeExhaustsDelta(t *testing.T) {
	for _, eta := range []float64{1e-6, 1e-3, 0.03} {
		for _, shift := range []int64{1, 5, 30} {
			for _, delta := range []float64{1e-3, 1e-6, 1e-12, 1e-100} {
				d := leastShape(0.45*eta, eta, shift, math.Log(delta))
				threshold := float64(shift-1) + (d.R-1)/math.Expm1(d.Eta+eta)
				k := int64(math.Ceil(threshold))
				exact := d.CDF(k - 1)
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
