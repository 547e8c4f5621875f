package hdsum

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/internal/sample"
)

// All draws are seeded. Were they not, a chi-square test would fail with
// probability 1e-7. A mean or variance would be beyond 6 standard errors with
// probability 2e-9 if it is normal. A few variances are not quite normal: 1e-7 for
// each of these. The package has 26 chi-square tests, below 300 means and 40
// variances: 8e-6 with the levels named in single tests.
const (
	chiSquareLevel = 1e-7
	deviations     = 6
)

func newRand(seed byte) *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{7, seed})) }

// law is a distribution on the integers: P[low + i] = p[i].
type law struct {
	low int64
	p   []float64
}

// laplaceLaw is DLap(η), cut off where the rest has no weight in float64.
func laplaceLaw(d sample.DiscreteLaplace) law {
	far := int64(math.Ceil(40 / d.Eta))
	l := law{low: -far, p: make([]float64, 2*far+1)}
	for i := range l.p {
		l.p[i] = d.Prob(l.low + int64(i))
	}
	return l
}

// negativeBinomialLaw is d, cut off at its quantile 1 − 1e-13.
func negativeBinomialLaw(d sample.NegativeBinomial) law {
	var l law
	for total := 0.0; total < 1-1e-13; {
		p := math.Exp(d.LogProb(int64(len(l.p))))
		l.p = append(l.p, p)
		total += p
		if p < 1e-16 && float64(len(l.p)) > d.Mean() {
			break
		}
	}
	return l
}

// plus is the law of the sum of independent variables.
func (l law) plus(o law) law {
	sum := law{low: l.low + o.low, p: make([]float64, len(l.p)+len(o.p)-1)}
	for i, x := range l.p {
		for j, y := range o.p {
			sum.p[i+j] += x * y
		}
	}
	return sum
}

func (l law) moved(by int64) law { return law{low: l.low + by, p: l.p} }

// moment is the k-th moment around c.
func (l law) moment(k int, c float64) (sum float64) {
	for i, p := range l.p {
		sum += p * math.Pow(float64(l.low+int64(i))-c, float64(k))
	}
	return sum
}

// require compares draws with the law: chi-square, mean and variance.
func (l law) require(t *testing.T, name string, draws []int64) {
	t.Helper()
	n := float64(len(draws))
	var edges []int64 // bin i is (edges[i−1], edges[i]]
	var expected []float64
	below, total := 0.0, 0.0
	for i, p := range l.p {
		total += p
		if n*(total-below) >= 10 && n*(1-total) >= 10 && total-below >= 0.02 {
			edges = append(edges, l.low+int64(i))
			expected = append(expected, n*(total-below))
			below = total
		}
	}
	expected = append(expected, n*(1-below))
	if len(expected) < 3 {
		t.Fatalf("%s: %d bins compare nothing", name, len(expected))
	}
	statistic := 0.0
	for i, count := range binned(draws, edges) {
		statistic += (count - expected[i]) * (count - expected[i]) / expected[i]
	}
	requireBelow(t, name, statistic, len(expected))

	mean := l.moment(1, 0)
	variance, fourth := l.moment(2, mean), l.moment(4, mean)
	gotMean, gotVariance := moments(draws, mean)
	if z := (gotMean - mean) / math.Sqrt(variance/n); !(math.Abs(z) <= deviations) {
		t.Errorf("%s: mean %.5g, want %.5g (%.1f standard errors)", name, gotMean, mean, z)
	}
	if z := (gotVariance - variance) / math.Sqrt((fourth-variance*variance)/n); !(math.Abs(z) <= deviations) {
		t.Errorf("%s: variance %.5g, want %.5g (%.1f standard errors)", name, gotVariance, variance, z)
	}
}

// moments returns the mean and the mean squared distance from center.
func moments(draws []int64, center float64) (mean, square float64) {
	for _, x := range draws {
		d := float64(x) - center
		mean += d
		square += d * d
	}
	n := float64(len(draws))
	return center + mean/n, square / n
}

func binned(draws, edges []int64) []float64 {
	counts := make([]float64, len(edges)+1)
	for _, x := range draws {
		counts[sort.Search(len(edges), func(i int) bool { return x <= edges[i] })]++
	}
	return counts
}

func requireBelow(t *testing.T, name string, statistic float64, bins int) {
	t.Helper()
	if limit := (distuv.ChiSquared{K: float64(bins - 1)}).Quantile(1 - chiSquareLevel); !(statistic <= limit) {
		t.Errorf("%s: chi-square %.1f of %d bins, limit %.1f", name, statistic, bins, limit)
	}
}

// requireSameLaw is the two-sample chi-square test, on bins of equal weight in
// both samples together.
func requireSameLaw(t *testing.T, name string, a, b []int64) {
	t.Helper()
	all := slices.Concat(a, b)
	slices.Sort(all)
	const want = 12
	var edges []int64
	for i := 1; i < want; i++ {
		edge := all[i*len(all)/want]
		if (len(edges) == 0 || edge > edges[len(edges)-1]) && edge < all[len(all)-1] {
			edges = append(edges, edge)
		}
	}
	if len(edges) < 2 {
		t.Fatalf("%s: %d bins compare nothing", name, len(edges)+1)
	}
	x, y := binned(a, edges), binned(b, edges)
	ratio := math.Sqrt(float64(len(b)) / float64(len(a)))
	statistic := 0.0
	for i := range x {
		d := ratio*x[i] - y[i]/ratio
		statistic += d * d / (x[i] + y[i])
	}
	requireBelow(t, name, statistic, len(x))
}

// messageLaw is the mean and variance of the number of noise messages of all
// clients: every flood's number of copies times its length, independent.
func messageLaw(l *layout) (mean, variance float64) {
	for _, g := range l.groups {
		k := float64(g.count)
		if b, ok := g.sum.(bbgnSum); ok {
			mean += k * float64(b.Clients()) * float64(b.Messages())
			continue
		}
		for _, f := range g.sum.Floods() {
			size := float64(len(f.Messages))
			mean += k * size * f.Total.Mean()
			variance += k * size * size * f.Total.Variance()
		}
	}
	return mean, variance
}

// requireMessages checks totals of all clients' messages, real ones included,
// against messageLaw and Cost. The totals are sums of hundreds of clusters, so
// near normal that their squares' deviation is 2·variance², within a factor 2.
func requireMessages(t *testing.T, name string, l *layout, real int64, totals []int64) {
	t.Helper()
	mean, variance := messageLaw(l)
	if cost := float64(l.clients()) * l.Cost().Messages; math.Abs(cost-mean) > 1e-9*mean {
		t.Errorf("%s: Cost announces %g messages of all clients, want %g", name, cost, mean)
	}
	mean += float64(real)
	n := float64(len(totals))
	gotMean, gotVariance := moments(totals, mean)
	if math.Abs(gotMean-mean) > deviations*math.Sqrt(variance/n) {
		t.Errorf("%s: %.2f messages on average, want %.2f ± %.2f", name, gotMean, mean, math.Sqrt(variance/n))
	}
	if math.Abs(gotVariance-variance) > deviations*2*variance/math.Sqrt(n) {
		t.Errorf("%s: variance %.4g of the number of messages, want %.4g", name, gotVariance, variance)
	}
}

// draws calls draw n times.
func draws(t *testing.T, n int, draw func() (int64, error)) []int64 {
	t.Helper()
	out := make([]int64, n)
	for i := range out {
		var err error
		if out[i], err = draw(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func laplace(eta float64) sample.DiscreteLaplace { return sample.DiscreteLaplace{Eta: eta} }

// decoded returns the estimate of every instance.
func decoded(t *testing.T, sums *Sums) []float64 {
	t.Helper()
	estimates, err := sums.layout.decode(sums)
	if err != nil {
		t.Fatal(err)
	}
	return estimates
}
