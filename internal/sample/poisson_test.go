package sample

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestPoissonFollowsItsLaw(t *testing.T) {
	rng := newRand()
	for _, mean := range []float64{1e-3, 0.5, 3, 9.99, 10, 10.5, 30.25, 1000, 1e6 + 0.5} {
		law := distuv.Poisson{Lambda: mean}
		requireLaw(t, fmt.Sprintf("mean %g", mean), draws, func() int64 { return Poisson(rng, mean) }, func(k int64) float64 { return law.CDF(float64(k)) })
	}
}

// 0 is the value that transformed rejection reaches last. Of 10^6 draws of mean
// 10, 45.4 are 0: at most 13, or 90 and more, with probability below 2e−8.
func TestPoissonReachesZero(t *testing.T) {
	rng := newRand()
	zeros := 0
	for range 1_000_000 {
		if Poisson(rng, 10) == 0 {
			zeros++
		}
	}
	if zeros <= 13 || zeros >= 90 {
		t.Errorf("%d zeros, want about 45", zeros)
	}
}

func TestPoissonMoments(t *testing.T) {
	rng := newRand()
	for _, mean := range []float64{2, 12.75, 1e9, 1e15, 0x1p60} {
		requireMoments(t, fmt.Sprintf("mean %g", mean), draws, func() int64 { return Poisson(rng, mean) }, mean, mean, mean+3*mean*mean)
	}
}

// Rejection gives the exact law if no acceptance probability exceeds 1, if what
// is accepted at once is accepted with at least that probability, and if what is
// refused at once has no more. A fine grid of s looks at all three.
func TestPoissonHatCoversTheDensity(t *testing.T) {
	const grid = 4_000
	for mean := 10.; mean < 1e16; mean *= 1.07 {
		p := newPTRS(mean)
		whole, part := math.Modf(mean)
		for i := 1; i < grid; i++ {
			s := float64(i) / (2 * grid)
			for _, below := range []bool{true, false} {
				step := p.propose(s, below, part)
				if step < -whole {
					continue
				}
				log := p.logAcceptance(s, whole+step, step-part)
				if log > 0 || s >= 0.07 && log < math.Log(p.accept) || s < 0.013 && log > math.Log(s) {
					t.Fatalf("mean %g, s %g, k %g: acceptance probability %g", mean, s, whole+step, math.Exp(log))
				}
			}
		}
	}
}

func TestPoissonLogProbability(t *testing.T) {
	for _, c := range []struct{ k, mean float64 }{{0, 12}, {1, 12}, {12, 12}, {90, 12.5}, {300, 250.75}} {
		requireClose(t, fmt.Sprint(c), logPoisson(c.k, c.mean, c.k-c.mean), distuv.Poisson{Lambda: c.mean}.LogProb(c.k), 1e-12)
	}
}

func TestPoissonOutsideItsDomain(t *testing.T) {
	for _, mean := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
		if k := Poisson(newRand(), mean); k != 0 {
			t.Errorf("mean %g: got %d, want 0", mean, k)
		}
	}
	// 10 standard deviations of 2^31 around 2^62.
	if k := Poisson(newRand(), math.Inf(1)); k < 1<<62-1<<35 || k > 1<<62+1<<35 {
		t.Errorf("mean +Inf: got %d, want about 2^62", k)
	}
}

// A mean of 2^−66 must be reached by an exponential variable as often as it says.
func TestPoissonOfATinyMean(t *testing.T) {
	short := []uint64{1 << 63, 0, 1 << 63} // an exponential variable of 2^−66
	if k := Poisson(scripted(append(short, 1<<62)...), 0x1.8p-66); k != 1 {
		t.Errorf("above the first arrival: got %d, want 1", k)
	}
	if k := Poisson(scripted(short...), 0x0.8p-66); k != 0 {
		t.Errorf("below the first arrival: got %d, want 0", k)
	}
}
