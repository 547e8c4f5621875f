package sample

import (
	"fmt"
	"math"
	"testing"
)

// Computed independently by mpmath with 50 digits from the formula with ln Γ.
func TestNegativeBinomialLogProb(t *testing.T) {
	for _, c := range []struct {
		r, eta float64
		k      int64
		want   float64
	}{
		{2.5, 0.3, 4, -2.3757386730008399845},
		{1e-06, 1e-09, 1, -13.815531282230111596},
		{1e-06, 1e-09, 1000000000, -35.538775817695843933},
		{88.0, 1e-05, 2000000, -75.569600458986944685},
		{88.0, 1e-05, 8800000, -14.671484372110068331},
		{1000000.0, 1e-09, 1000000000000000, -28.549959732966679283},
		{1e-06, 40, 1, -53.815510557964274149},
		{1e-06, 40, 3, -134.91412134663300884},
		{0.5, 50, 2, -100.98082925301172624},
		{1000000.0, 0.01, 100000000, -24.854006076125547623},
		{100.0, 1e-07, 123456789, -138.78063941978396126},
		{1000000.0, 1e-09, 999000000000000, -29.049292315666533945},
	} {
		requireClose(t, fmt.Sprint(c), NegativeBinomial{c.r, c.eta}.LogProb(c.k), c.want, 1e-14)
	}
	if got := (NegativeBinomial{2, 1}).LogProb(-1); !math.IsInf(got, -1) {
		t.Errorf("LogProb(-1) = %g, want -Inf", got)
	}
}

// probabilities returns P[X = 0], …, P[X = n−1] by the recurrence of the law.
func (d NegativeBinomial) probabilities(n int) []float64 {
	p := math.Exp(-d.Eta)
	law := make([]float64, n)
	law[0] = math.Pow(-math.Expm1(-d.Eta), d.R)
	for k := 1; k < n; k++ {
		law[k] = law[k-1] * p * (float64(k) - 1 + d.R) / float64(k)
	}
	return law
}

func TestNegativeBinomialMeanAndVariance(t *testing.T) {
	for _, d := range []NegativeBinomial{{0.3, 0.2}, {2.5, 1}, {40, 3}, {1e-6, 0.5}, {3, 40}} {
		var mean, square float64
		for k, q := range d.probabilities(1000) {
			mean += float64(k) * q
			square += float64(k) * float64(k) * q
		}
		requireClose(t, fmt.Sprint(d, " mean"), d.Mean(), mean, 1e-12)
		requireClose(t, fmt.Sprint(d, " variance"), d.Variance(), square-mean*mean, 1e-12)
	}
}

// n shares are n-fold convolved, by squaring.
func TestSharesSumToTheWhole(t *testing.T) {
	const n, terms = 8, 300
	whole := NegativeBinomial{R: 1.7, Eta: 0.1}
	law := whole.Share(n).probabilities(terms)
	for range 3 {
		law = convolve(law, law)
	}
	for k, want := range whole.probabilities(terms) {
		requireClose(t, fmt.Sprintf("P[%d]", k), law[k], want, 1e-12)
	}
}

// The recursion of Panjer, Recursive Evaluation of a Family of Compound
// Distributions, ASTIN Bulletin 12(1), 1981, for a Poisson number of clusters.
func TestClustersSumToTheNegativeBinomialLaw(t *testing.T) {
	for _, d := range []NegativeBinomial{{1e-3, 0.05}, {1.7, 0.1}, {30, 1}, {5, 40}} {
		cluster := d.Cluster()
		law := []float64{math.Exp(-d.Clusters())}
		for k := 1; k < 300; k++ {
			sum := 0.
			for j := 1; j <= k; j++ {
				sum += float64(j) * cluster.Prob(int64(j)) * law[k-j]
			}
			law = append(law, d.Clusters()/float64(k)*sum)
		}
		for k := range law {
			if want := math.Exp(d.LogProb(int64(k))); math.Abs(law[k]-want) > 1e-12*want+1e-300 {
				t.Errorf("%v: P[%d] = %g from clusters, want %g", d, k, law[k], want)
			}
		}
	}
}

func TestNegativeBinomialFollowsItsLaw(t *testing.T) {
	rng := newRand()
	for _, d := range []NegativeBinomial{{0.01, 0.05}, {0.5, 1e-3}, {1, 1e-9}, {2.5, 0.3}, {88, 1e-4}, {1e6, 2}, {1e3, 9}} {
		requireLaw(t, fmt.Sprint(d), draws, func() int64 { return d.Rand(rng) }, d.CDF)
	}
}

func TestNegativeBinomialMoments(t *testing.T) {
	rng := newRand()
	for _, d := range []NegativeBinomial{{0.5, 1}, {20, 1e-6}, {1e6, 1e-8}} {
		v := d.Variance()
		excess := (6 + 4*math.Pow(math.Sinh(d.Eta/2), 2)) / d.R // kurtosis beyond 3
		requireMoments(t, fmt.Sprint(d), draws, func() int64 { return d.Rand(rng) }, d.Mean(), v, (3+excess)*v*v)
	}
}

func TestClustersDrawnSumToTheNegativeBinomialLaw(t *testing.T) {
	rng := newRand()
	d := NegativeBinomial{R: 0.4, Eta: 0.01}
	cluster := NewLogarithmicSampler(d.Eta)
	requireLaw(t, "clusters", draws, func() (sum int64) {
		for range Poisson(rng, d.Clusters()) {
			sum += cluster.Rand(rng)
		}
		return sum
	}, d.CDF)
}

// A shape of 1e−5 is positive about once in 14 500 draws here.
func TestTinyShapeIsNearlyAlwaysZero(t *testing.T) {
	rng := newRand()
	d := NegativeBinomial{R: 1e-5, Eta: 1e-3}
	const n = 200_000
	positive := 0.
	for range n {
		if d.Rand(rng) > 0 {
			positive++
		}
	}
	// Poisson of mean 13.8: 0 has probability 1e−6, 40 or more 2e−8 or so.
	want := -math.Expm1(d.LogProb(0)) * n
	if positive < 1 || positive >= 40 {
		t.Errorf("%g positive draws, want about %.1f", positive, want)
	}
}

func TestNegativeBinomialOutsideItsDomain(t *testing.T) {
	for _, r := range []float64{0, -1, math.NaN()} {
		if k := (NegativeBinomial{r, 1}).Rand(newRand()); k != 0 {
			t.Errorf("R = %g: got %d, want 0", r, k)
		}
	}
	for _, eta := range []float64{0, -1, math.NaN()} {
		if k := (NegativeBinomial{10, eta}).Rand(newRand()); k < 1<<50 {
			t.Errorf("η = %g: got %d, want the noise of η = 2^-50", eta, k)
		}
	}
	if k := (NegativeBinomial{math.Inf(1), 1}).Rand(newRand()); k < 1<<60 {
		t.Errorf("R = +Inf: got %d", k)
	}
}
