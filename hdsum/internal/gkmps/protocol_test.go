package gkmps

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"gonum.org/v1/gonum/stat/distuv"
)

// The sum of the messages of n clients is the sum of the inputs plus discrete
// Laplace noise of ε*/U', whatever the flood: chi-square with the exact
// probabilities, 3 tests that fail by chance with probability 1e-6 each.
func TestSumOfMessages(t *testing.T) {
	const clients, rounds = 5, 20000
	inputs := []int64{0, 1, 2, 2, 1}
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for _, calibration := range []Calibration{Certified, Published, Tight} {
		p, err := New(Config{Clients: clients, Bound: 2, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne, Calibration: calibration})
		if err != nil {
			t.Fatal(err)
		}
		const reach = 6 // 0.45·6 = 2.7: at least 300 results in every bin
		bins := make([]float64, 2*reach+1)
		for range rounds {
			var sum int64
			for client, x := range inputs {
				y, err := p.Round(x, rng)
				if err != nil || y != inputs[client] {
					t.Fatal(y, err)
				}
				sum += y
				for _, f := range p.Floods() {
					copies := f.Total.Share(clients).Rand(rng)
					for _, v := range f.Messages {
						sum += v * copies
					}
				}
			}
			bins[min(max(sum-6, -reach), reach)+reach]++
		}
		// P[d] = tanh(η/2)·e^{−η|d|}, η = 0.9/2.
		const eta = 0.45
		statistic := 0.0
		for i, n := range bins {
			d := math.Abs(float64(i - reach))
			prob := math.Tanh(eta/2) * math.Exp(-eta*d)
			if d == reach { // and beyond
				prob /= -math.Expm1(-eta)
			}
			statistic += (n - rounds*prob) * (n - rounds*prob) / (rounds * prob)
		}
		if limit := (distuv.ChiSquared{K: 2 * reach}).Quantile(1 - 1e-6); statistic > limit {
			t.Errorf("%s: chi-square %.1f > %.1f: %v", calibration, statistic, limit, bins)
		}
	}
}

func TestNoise(t *testing.T) {
	p := rounded(t, 10, 1000) // B = 100, U' = 10
	q := math.Exp(-0.9 / 10)
	want := 100 * 100 * 2 * q / ((1 - q) * (1 - q))
	if got := p.NoiseVariance(); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("noise variance %g, want %g", got, want)
	}
	if got := p.Noise().Eta; got > 0.09 || got < 0.09*(1-1e-12) {
		t.Errorf("η = %g, want 0.09 or a little less", got)
	}
	if p.Clients() != 10 {
		t.Errorf("%d clients", p.Clients())
	}
}

func TestMessageBits(t *testing.T) {
	for bound, want := range map[int64]int{1: 1, 2: 2, 3: 3, 4: 3, 5: 4, 1000: 11, 1024: 11, 1025: 12, MaxAtomBound: 17} {
		p, err := New(Config{Clients: 10, Bound: bound, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MessageBits(); got != want {
			t.Errorf("U = %d: %d bits, want %d", bound, got, want)
		}
	}
}

// Whatever the budget, its parts do not add up to more, in float64 arithmetic.
func TestBudgetIsNotExceeded(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{8}))
	for range 1000 {
		eps, delta := math.Exp(rng.Float64()*10-7), math.Exp(-rng.Float64()*400)
		s := newSpending(eps, delta)
		for bound := int64(1); bound <= 2; bound++ {
			hat, tilde := s.split(bound, rng.Float64())
			if sum := s.central + hat.eps + tilde.eps; sum > eps || sum < eps*(1-1e-12) {
				t.Errorf("ε = %v: %v is spent", eps, sum)
			}
			deltas := math.Exp(hat.logDelta)
			if bound > 1 {
				deltas += math.Exp(tilde.logDelta)
			}
			if deltas > delta || deltas < delta*(1-1e-9) {
				t.Errorf("δ = %v: %v is spent", delta, deltas)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	good := Config{Clients: 10, Bound: 5, Epsilon: 1, Delta: 1e-6, Relation: fl.ZeroOut}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		mutate func(*Config)
		param  string
	}{
		"no clients":      {func(c *Config) { c.Clients = 0 }, "clients"},
		"bound 0":         {func(c *Config) { c.Bound = 0 }, "bound"},
		"bound":           {func(c *Config) { c.Bound = MaxBound + 1; c.Rounding = true }, "bound"},
		"many atoms":      {func(c *Config) { c.Bound = MaxAtomBound + 1 }, "bound"},
		"epsilon 0":       {func(c *Config) { c.Epsilon = 0 }, "epsilon"},
		"epsilon NaN":     {func(c *Config) { c.Epsilon = math.NaN() }, "epsilon"},
		"epsilon Inf":     {func(c *Config) { c.Epsilon = math.Inf(1) }, "epsilon"},
		"large epsilon":   {func(c *Config) { c.Epsilon = fl.MaxEpsilon + 1 }, "epsilon"},
		"tiny epsilon":    {func(c *Config) { c.Epsilon = 4e-8 }, "epsilon"},
		"delta 0":         {func(c *Config) { c.Delta = 0 }, "delta"},
		"delta 1":         {func(c *Config) { c.Delta = 1 }, "delta"},
		"delta NaN":       {func(c *Config) { c.Delta = math.NaN() }, "delta"},
		"tiny delta":      {func(c *Config) { c.Delta = 1e-201 }, "delta"},
		"no relation":     {func(c *Config) { c.Relation = 0 }, "relation"},
		"bad calibration": {func(c *Config) { c.Calibration = 3 }, "calibration"},
	} {
		bad := good
		c.mutate(&bad)
		var p *fl.ParamError
		if _, err := New(bad); !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%s: error %v, want a ParamError for %s", name, err, c.param)
		}
	}
}

// The corners of what is allowed are calibrated, quickly and with finite laws.
func TestLimits(t *testing.T) {
	for _, calibration := range []Calibration{Certified, Published, Tight} {
		for _, bound := range []int64{1, 2, 300} {
			for _, eps := range []float64{MinEpsilonPerUnit * 300, fl.MaxEpsilon} {
				for _, delta := range []float64{MinDelta, 0.999999} {
					name := fmt.Sprintf("%s, U = %d, ε = %g, δ = %g", calibration, bound, eps, delta)
					p, err := New(Config{Clients: 1, Bound: bound, Epsilon: eps, Delta: delta, Relation: fl.ReplaceOne, Calibration: calibration})
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					for _, f := range p.Floods() {
						if !(f.Total.R >= 1) || !(f.Total.Eta > 1e-12) || !(f.Total.Mean() < 1e15) {
							t.Errorf("%s: %+v", name, f)
						}
					}
				}
			}
		}
	}
}

func TestCalibrationsByName(t *testing.T) {
	for _, c := range []Calibration{Certified, Published, Tight} {
		if back, err := ParseCalibration(c.String()); err != nil || back != c {
			t.Errorf("%s: read back %s, %v", c, back, err)
		}
	}
	var zero Config
	if zero.Calibration.String() != "certified" {
		t.Errorf("the default is %s", zero.Calibration)
	}
	_, err := ParseCalibration("best")
	var bad *fl.ParamError
	if !errors.As(err, &bad) || bad.Rule != "must be one of certified, published, tight" {
		t.Errorf("ParseCalibration(best): %v", err)
	}
	if got := Calibration(9).String(); got != "Calibration(9)" {
		t.Error(got)
	}
}

func rounded(t *testing.T, clients int, bound int64) *Protocol {
	t.Helper()
	p, err := New(Config{Clients: clients, Bound: bound, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne, Rounding: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// By enumeration of all draws: the results have exactly the mean x/B, stay next to it
// and within {0..U'}, and 0 stays 0.
func TestRoundingIsUnbiased(t *testing.T) {
	for _, c := range []struct {
		clients int
		bound   int64
	}{{1, 100}, {1, 97}, {10, 1000}, {3, 333}, {100000, 1000}} {
		p := rounded(t, c.clients, c.bound)
		b := p.Width()
		for x := int64(0); x <= c.bound; x++ {
			mean := new(big.Rat)
			law, err := exact.Enumerate(int(b), func(choose exact.Chooser) (int64, error) { return round(x, b, choose), nil })
			if err != nil {
				t.Fatal(err)
			}
			for v, prob := range law {
				mean.Add(mean, prob.Mul(prob, big.NewRat(v, 1)))
				if v < x/b || v > (x+b-1)/b || v > p.Bound() {
					t.Fatalf("B = %d: %d becomes %d", b, x, v)
				}
			}
			if mean.Cmp(big.NewRat(x, b)) != 0 {
				t.Errorf("n = %d, U = %d, B = %d: the mean of Round(%d) is %s", c.clients, c.bound, b, x, mean)
			}
		}
	}
}

func TestRoundRefuses(t *testing.T) {
	p := rounded(t, 10, 1000) // B = 100
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for x := int64(0); x <= 1000; x += 100 {
		if v, err := p.Round(x, rng); err != nil || v != x/100 {
			t.Errorf("Round(%d) = %d, %v", x, v, err)
		}
	}
	for _, x := range []int64{-1, 1001, math.MinInt64, math.MaxInt64} {
		var bad *fl.ParamError
		if _, err := p.Round(x, rng); !errors.As(err, &bad) || bad.Param != "x" {
			t.Errorf("Round(%d): %v", x, err)
		}
	}
}

// Rounding sets in above √(n/ζ), = 100 for n = 1000 and ε = 1, and its variance is
// the largest possible one: B²/4 per client, in the middle of two multiples.
func TestWidth(t *testing.T) {
	for _, c := range []struct {
		bound, width, rounded int64
		variance              float64
	}{{1, 1, 1, 0}, {100, 1, 100, 0}, {101, 2, 51, 1000}, {200, 2, 100, 1000}, {201, 3, 67, 2250}, {MaxBound, 21474837, 100, 1000. * 21474837 * 21474837 / 4}} {
		p := rounded(t, 1000, c.bound)
		if p.Width() != c.width || p.Bound() != c.rounded || p.RoundingVariance() != c.variance {
			t.Errorf("U = %d: B = %d, U' = %d, variance %g, want %d, %d, %g",
				c.bound, p.Width(), p.Bound(), p.RoundingVariance(), c.width, c.rounded, c.variance)
		}
	}
	if w := widthFor(1000, 1000, 10); w != 4 { // ζ = 0.01: R = 316.2
		t.Errorf("ε = 10: B = %d, want 4", w)
	}
}
