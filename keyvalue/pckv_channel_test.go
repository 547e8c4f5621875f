package keyvalue

import (
	"math"
	"testing"
)

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

// The mechanisms have the probabilities of Lemmas 2 and 3 in closed form, up to the
// rounding to integers.
func TestChannelsAreThoseOfTheLemmas(t *testing.T) {
	const dim, padding = 50, 4
	for _, epsilon := range []float64{0.01, 0.5, 2, 10} {
		e, d := math.Exp(epsilon), float64(dim+padding)
		for _, c := range []struct {
			name    string
			a, b, p float64
		}{
			{PCKVUE, 0.5, 2 / (e + 3), e / (e + 1)},
			{PCKVGRR, (e + 1) / (e - 1 + 2*d), 2 / (e - 1 + 2*d), e / (e + 1)},
			{PCKVAGRR, (4*(e-1) + 2) / (4*(e-1) + 2*d), 2 / (4*(e-1) + 2*d), (4*(e-1) + 1) / (4*(e-1) + 2)},
		} {
			got := pckvOpen(t, c.name, dim, padding, epsilon).channel()
			if !near(got.Background, c.b, 1e-9) || !near(got.Hold, c.a-c.b, 1e-9) || !near(got.Sign, c.a*(2*c.p-1), 1e-9) {
				t.Errorf("%s, ε %g: %+v, want a %g, b %g, p %g", c.name, epsilon, got, c.a, c.b, c.p)
			}
		}
	}
}

// FrequencyMSE is (9) in the paper's form, ℓ²b(1−b)/(n(a−b)²) + ℓf(1−a−b)/(n(a−b)).
func TestFrequencyMSEIsTheoremFour(t *testing.T) {
	const a, b, l, f, n = 0.5, 0.125, 3., 0.4, 1000.
	c := Channel{Background: b, Hold: a - b, Sign: 0.25}
	want := l*l*b*(1-b)/(n*(a-b)*(a-b)) + l*f*(1-a-b)/(n*(a-b))
	if got := c.FrequencyMSE(3, f, n); !near(got, want, 1e-12) {
		t.Errorf("got %g, want %g", got, want)
	}
	if got := c.FrequencyVariance(3, f, n) - want; !near(got, f*2/n, 1e-9) {
		t.Errorf("sampling adds %g, want %g", got, f*2/n)
	}
}

// MeanVariance by hand: a report of a key held with f = 0.4 shows a sign with probability
// 1/8 + (3/8)(0.4)/3 = 0.175, worth ±3/0.25, around the mean 0.4·0.5.
func TestMeanVarianceByHand(t *testing.T) {
	c := Channel{Background: 0.125, Hold: 0.375, Sign: 0.25}
	if got, want := c.MeanVariance(3, 0.4, 0.5, 1000), (0.175*144-0.04)/1000; !near(got, want, 1e-12) {
		t.Errorf("got %g, want %g", got, want)
	}
}

// MeanMSE against the delta method done by hand: the covariance of the two counts per
// client, and the gradient of the estimator by central differences.
func TestMeanMSEIsTheDeltaMethod(t *testing.T) {
	const a, b, p, l, f, m, n = 0.5, 0.125, 0.75, 3., 0.4, -0.3, 1000.
	c := Channel{Background: b, Hold: a - b, Sign: a * (2*p - 1)}
	estimator := func(plus, minus float64) float64 {
		return (plus - minus) / (a * (2*p - 1)) / ((plus + minus - b) / (a - b))
	}
	var mean [2]float64
	var covariance [2][2]float64
	for _, group := range []struct{ share, plus, minus float64 }{
		{f / l * (1 + m) / 2, a * p, a * (1 - p)},
		{f / l * (1 - m) / 2, a * (1 - p), a * p},
		{1 - f/l, b / 2, b / 2},
	} {
		mean[0] += group.share * group.plus
		mean[1] += group.share * group.minus
		covariance[0][0] += group.share * group.plus * (1 - group.plus)
		covariance[1][1] += group.share * group.minus * (1 - group.minus)
		covariance[0][1] -= group.share * group.plus * group.minus
	}
	covariance[1][0] = covariance[0][1]
	const h = 1e-6
	gradient := [2]float64{
		(estimator(mean[0]+h, mean[1]) - estimator(mean[0]-h, mean[1])) / (2 * h),
		(estimator(mean[0], mean[1]+h) - estimator(mean[0], mean[1]-h)) / (2 * h),
	}
	want := 0.0
	for i := range 2 {
		for j := range 2 {
			want += gradient[i] * covariance[i][j] * gradient[j] / n
		}
	}
	if got := c.MeanMSE(3, f, m, n); !near(got, want, 1e-7) || !near(estimator(mean[0], mean[1]), m, 1e-12) {
		t.Errorf("got %g, want %g", got, want)
	}
}

// (11) is MeanMSE and the variance of rounding values to signs, (1−m²)ℓ/(nf); (10) by its own formula.
func TestMeansHaveTheErrorsOfTheoremFour(t *testing.T) {
	const a, b, p, l, f, m, n = 0.5, 0.125, 0.75, 3., 0.4, -0.3, 1000.
	c := Channel{Background: b, Hold: a - b, Sign: a * (2*p - 1)}
	delta, gamma := (a-b)*f/l, a*(2*p-1)*f/l
	want := (b+delta)/(n*gamma*gamma) + (b*(1-b)-delta)/(n*delta*delta)*m*m
	if got := c.MeanMSE(3, f, m, n) + (1-m*m)*l/(n*f); !near(got, want, 1e-12) {
		t.Errorf("variance %g, want %g", got, want)
	}
	if got, want := c.MeanBias(3, f, m, n), m*(1+(1-b-delta)*b/(n*delta*delta))-m; !near(got, want, 1e-9) {
		t.Errorf("bias %g, want %g", got, want)
	}
}

// 1000 reports, ℓ = 2: 210 show + and 90 show −, 100 of them from other keys. 200 over a − b = 0.4 are
// 500 senders: everybody holds the key. The signs are 120 over 0.3, 400 apart: 0.8. Fewer shows than
// the background give a frequency below 0 and a mean within [−1, 1].
func TestEstimateByHand(t *testing.T) {
	c := Channel{Background: 0.1, Hold: 0.4, Sign: 0.3}
	if f, m := c.Estimate(2, 210, 90, 1000); !near(f, 1, 1e-12) || !near(m, 0.8, 1e-12) {
		t.Errorf("%g and %g, want 1 and 0.8", f, m)
	}
	if f, m := c.Estimate(2, 60, 0, 1000); !near(f, -0.2, 1e-12) || m != 1 {
		t.Errorf("%g and %g, want -0.2 and 1", f, m)
	}
}

// BestPCKV agrees with the leading terms of the errors for rare keys.
func TestBestHasTheSmallerError(t *testing.T) {
	chosen := map[string]int{}
	for _, dim := range []int{2, 20, 200, 2000, 20000} {
		for _, padding := range []int{1, 2, 5, 20} {
			for _, epsilon := range []float64{0.1, 1, 2.5, 5} {
				frequencies, means, err := BestPCKV(dim, padding, epsilon)
				if err != nil {
					t.Fatal(err)
				}
				const rare = 1e-9
				u := pckvOpen(t, PCKVUE, max(dim, padding), padding, epsilon).channel()
				signal := float64(padding) * math.Expm1(epsilon) // of Lemma 3, where any other signed key has 1
				total := signal + 2*float64(dim+padding)
				g := Channel{Background: 2 / total, Hold: signal / total, Sign: signal / total}
				if better := u.FrequencyMSE(padding, rare, 1) < g.FrequencyMSE(padding, rare, 1); better != (frequencies == PCKVUE) {
					t.Errorf("dim %d, ℓ %d, ε %g: frequencies by %s", dim, padding, epsilon, frequencies)
				}
				if better := u.MeanMSE(padding, rare, 0, 1) < g.MeanMSE(padding, rare, 0, 1); better != (means == PCKVUE) {
					t.Errorf("dim %d, ℓ %d, ε %g: means by %s", dim, padding, epsilon, means)
				}
				chosen[frequencies]++
				chosen[means]++
			}
		}
	}
	if len(chosen) != 2 {
		t.Errorf("chosen: %v, want both", chosen)
	}
	for _, bad := range []struct {
		dim, padding int
		epsilon      float64
	}{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 1, math.NaN()}, {1, 1, 21}} {
		if _, _, err := BestPCKV(bad.dim, bad.padding, bad.epsilon); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
