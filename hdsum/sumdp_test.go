package hdsum

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func newSumDP(t testing.TB, c Config, bound int64, beta float64) *SumDP {
	t.Helper()
	s, err := NewSumDP(c, bound, beta)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sumSeparately(s *SumDP, inputs []int64, rng *rand.Rand) (*SumEstimate, int64, error) {
	sums, messages := s.NewSums(), int64(0)
	for _, x := range inputs {
		m, err := s.Encode(x, rng)
		if err != nil {
			return nil, 0, err
		}
		messages += m.Messages()
		if err := sums.Add(m); err != nil {
			return nil, 0, err
		}
	}
	e, err := s.Analyze(sums)
	return e, messages, err
}

// Simulate has the law of separate clients: estimates, kept sub-domains and numbers
// of messages (2 chi-square tests, 4 moments).
func TestSimulateSumDP(t *testing.T) {
	trials := 3000
	if !*long {
		trials = 600
	}
	for _, base := range []Protocol{GKMPS, BBGN} {
		c := Config{Clients: 4, Epsilon: 4, Delta: 0.1, Relation: fl.ZeroOut, Base: base, Calibration: CalibrationTight}
		s := newSumDP(t, c, 6, 0.9)
		inputs := []int64{1, 0, 2, 1}
		rng := newRand(10)
		var sums, totals [2][]int64
		for k, run := range []func(*SumDP, []int64, *rand.Rand) (*SumEstimate, int64, error){
			sumSeparately,
			func(s *SumDP, inputs []int64, rng *rand.Rand) (*SumEstimate, int64, error) {
				return s.SimulateCounts(listed(inputs), rng)
			},
		} {
			sums[k] = draws(t, trials, func() (int64, error) {
				e, messages, err := run(s, inputs, rng)
				totals[k] = append(totals[k], messages)
				if err != nil {
					return 0, err
				}
				return 10*int64(e.Value) + e.Tau, nil
			})
			if base == GKMPS {
				requireMessages(t, "SumDP", s.layout, 3, totals[k])
			} else if totals[k][0] != int64(4*s.Cost().Messages) {
				t.Errorf("%d messages, want 4 times %g", totals[k][0], s.Cost().Messages)
			}
		}
		requireSameLaw(t, "SumDP, "+base.String(), sums[0], sums[1])
	}
}

// With many clients the estimate has the sum of the inputs up to τ, the rest is
// dropped, and the error is the error of the instances kept. (18 comparisons at 12
// standard deviations of about a Laplace variable, e^(−12·√2) = 4e-8 each, and 18
// times β = 1e-9.)
func TestLargeInputsAreDropped(t *testing.T) {
	for _, base := range []Protocol{Auto, GKMPS, BBGN} {
		for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
			c := Config{Clients: 2000, Epsilon: 1, Delta: 1e-6, Relation: relation, Base: base}
			s := newSumDP(t, c, 1000, 1e-9)
			inputs := make([]int64, c.Clients)
			want, all := 0.0, 0.0
			for i := range inputs {
				if i%2 == 0 {
					inputs[i] = 1 + int64(i/2)%20
				}
				all += float64(inputs[i])
			}
			want = all
			inputs[1], inputs[3] = 900, 600 // two clients do not stand out
			rng := newRand(11)
			for range 3 {
				e, _, err := s.SimulateCounts(listed(inputs), rng)
				if err != nil {
					t.Fatal(err)
				}
				if e.Tau != 32 || math.Abs(e.Value-want) > 12*math.Sqrt(e.Variance) {
					t.Errorf("%s, %s: %.0f up to %d, want %.0f up to 32, standard error %.1f", base, relation, e.Value, e.Tau, want, math.Sqrt(e.Variance))
				}
				variance := 0.0
				for j := range 6 {
					variance += s.groups[j].sum.variance()
				}
				if e.Variance != variance {
					t.Errorf("%s: variance %g, want %g", base, e.Variance, variance)
				}
			}
		}
	}
}

// Decoded by hand: sub-domains behind the last one above its threshold are dropped,
// those before it are kept whatever they are.
func TestSumDPEstimate(t *testing.T) {
	s := newSumDP(t, Config{Clients: 100, Epsilon: 1, Delta: 1e-6, Relation: fl.ZeroOut}, 6, 0.1)
	high := s.domains.thresholds
	for _, c := range []struct {
		parts []float64
		value float64
		tau   int64
	}{
		{[]float64{high[0], high[1], high[2], high[3]}, 0, 0},
		{[]float64{high[0] + 1, 5, 6, 7}, high[0] + 1, 1},
		{[]float64{-3, -4, high[2] + 1, 7}, high[2] - 6, 4},
		{[]float64{1, 2, 3, high[3] + 1}, high[3] + 7, 6},
	} {
		if e := s.estimate(c.parts); math.Abs(e.Value-c.value) > 1e-9 || e.Tau != c.tau || (e.Tau == 0) != (e.Variance == 0) {
			t.Errorf("%v: %+v, want %g up to %d", c.parts, e, c.value, c.tau)
		}
	}
}

// Every input goes to the instance of its sub-domain, the largest included. (72
// means of 600, 2e-7 in all.)
func TestInputsGoToTheirSubDomain(t *testing.T) {
	s := newSumDP(t, Config{Clients: 1, Epsilon: 1, Delta: 1e-6, Relation: fl.ZeroOut, Base: BBGN}, 100, 0.1)
	rng := newRand(12)
	for x, want := range map[int64]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 8: 3, 64: 6, 65: 7, 100: 7} {
		totals := make([]float64, 8)
		const trials = 600
		for range trials {
			m, err := s.Encode(x, rng)
			if err != nil {
				t.Fatal(err)
			}
			sums := s.NewSums()
			if err := sums.Add(m); err != nil {
				t.Fatal(err)
			}
			for j, v := range decoded(t, sums) {
				totals[j] += v
			}
		}
		for j, total := range totals {
			mean := 0.0
			if j == want {
				mean = float64(x)
			}
			if se := math.Sqrt(s.groups[j].sum.variance() / trials); math.Abs(total/trials-mean) > deviations*se {
				t.Errorf("input %d: instance %d has mean %g, want %g ± %g", x, j, total/trials, mean, se)
			}
		}
	}
}

// Under replace-one, instances get half of the budget: twice the error.
func TestRelationOfSumDP(t *testing.T) {
	c := Config{Clients: 1000, Epsilon: 1, Delta: 1e-6, Relation: fl.ZeroOut, Base: BBGN}
	zero := newSumDP(t, c, 64, 0.1)
	c.Relation = fl.ReplaceOne
	replace := newSumDP(t, c, 64, 0.1)
	for j := range zero.groups {
		if got, want := replace.groups[j].sum.Noise().Eta, zero.groups[j].sum.Noise().Eta/2; math.Abs(got-want) > 1e-12*want {
			t.Errorf("instance %d: η = %g, want %g", j, got, want)
		}
		if got, want := replace.domains.thresholds[j], 2*zero.domains.thresholds[j]; math.Abs(got-want) > 1e-12*want {
			t.Errorf("instance %d: threshold %g, want %g", j, got, want)
		}
	}
}

func TestParts(t *testing.T) {
	s := newSumDP(t, Config{Clients: 1000, Epsilon: 1, Delta: 1e-6, Relation: fl.ZeroOut}, 100, 0.1)
	var total Cost
	for j, bound := range s.domains.bounds {
		if want := min(int64(1)<<j, 100); bound != want {
			t.Errorf("part %d ends at %d, want %d", j, bound, want)
		}
		total = total.plus(s.groups[j].sum.cost())
	}
	if len(s.groups) != 8 || total != s.Cost() {
		t.Errorf("%d parts cost %+v, together %+v", len(s.groups), total, s.Cost())
	}
}

func TestSumDPRefuses(t *testing.T) {
	good := Config{Clients: 10, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne}
	for param, mutate := range map[string]func(*Config){
		"epsilon":  func(c *Config) { c.Epsilon = math.NaN() },
		"delta":    func(c *Config) { c.Delta = math.NaN() },
		"relation": func(c *Config) { c.Relation = 0 },
		"base":     func(c *Config) { c.Base = 9 },
	} {
		c := good
		mutate(&c)
		if _, err := NewSumDP(c, 6, 0.1); !isParam(err, param) {
			t.Errorf("%s: error %v", param, err)
		}
	}
	if _, err := NewSumDP(good, 0, 0.1); !isParam(err, "bound") {
		t.Errorf("bound 0: error %v", err)
	}
	for _, mutate := range []func(*Config){
		func(c *Config) { c.Epsilon = fl.MaxEpsilon + 1 }, func(c *Config) { c.Epsilon = 0 },
		func(c *Config) { c.Delta = 0 }, func(c *Config) { c.Delta = 1 },
	} {
		c := good
		mutate(&c)
		if _, err := NewSumDP(c, 6, 0.1); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	for _, beta := range []float64{0, 1, -1, math.Inf(1), math.NaN()} {
		if _, err := NewSumDP(good, 6, beta); !isParam(err, "beta") {
			t.Errorf("beta %g: error %v", beta, err)
		}
	}
	s := newSumDP(t, good, 6, 0.1)
	rng := newRand(13)
	for _, x := range []int64{-1, 7, math.MinInt64, math.MaxInt64} {
		if _, err := s.Encode(x, rng); !isParam(err, "x") {
			t.Errorf("input %d: error %v", x, err)
		}
		if _, _, err := s.SimulateCounts(listed([]int64{x}), rng); !isParam(err, "x") {
			t.Errorf("simulated input %d: error %v", x, err)
		}
	}
	if _, err := s.Analyze(newSumDP(t, good, 6, 0.1).NewSums()); !isParam(err, "sums") {
		t.Errorf("foreign sums: error %v", err)
	}
	if _, _, err := s.SimulateCounts(listed(make([]int64, 9)), rng); !isParam(err, "inputs") {
		t.Errorf("too few inputs: error %v", err)
	}
}
