package hdsum

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/fl"
)

// listed counts each client on its own.
func listed(inputs []int64) []Count {
	counts := make([]Count, len(inputs))
	for i, x := range inputs {
		counts[i] = Count{Value: x, Clients: 1}
	}
	return counts
}

// Counted clients have the law of listed ones: the same mean and variance of the estimate, and
// the same number of messages, with rounding and without. Means are within 6 standard errors
// (2e-9); variances of 2000 draws with the kurtosis of Laplace noise, 6, have a relative standard
// deviation of √(5/2000) = 0.05, and two differ by less than 6·0.071.
func TestCountedClientsHaveTheLawOfListedOnes(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	counts := []Count{{0, 5}, {1, 400}, {7, 40}, {300, 3}, {1000, 2}}
	var inputs []int64
	for _, c := range counts {
		for range c.Clients {
			inputs = append(inputs, c.Value)
		}
	}
	for _, base := range []Protocol{GKMPS, BBGN} {
		c := Config{Clients: len(inputs), Epsilon: 20, Delta: 1e-6, Relation: fl.ZeroOut, Base: base}
		sum, err := NewBaseSum(c, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if base == GKMPS && sum.groups[0].sum.Width() == 1 {
			t.Fatal("nothing is rounded")
		}
		list := listed(inputs)
		var values, messages [2][]float64
		for range 2000 {
			for i, simulate := range []func() (float64, int64, error){
				func() (float64, int64, error) { return sum.SimulateCounts(list, rng) },
				func() (float64, int64, error) { return sum.SimulateCounts(counts, rng) },
			} {
				v, m, err := simulate()
				if err != nil {
					t.Fatal(err)
				}
				values[i], messages[i] = append(values[i], v), append(messages[i], float64(m))
			}
		}
		for name, pair := range map[string][2][]float64{"values": values, "messages": messages} {
			a, va := stat.MeanVariance(pair[0], nil)
			b, vb := stat.MeanVariance(pair[1], nil)
			if math.Abs(a-b) > 6*math.Sqrt((va+vb)/2000) {
				t.Errorf("%v: mean of %s %g listed, %g counted", base, name, a, b)
			}
			if va > 0 && math.Abs(math.Log(va/vb)) > 0.43 {
				t.Errorf("%v: variance of %s %g listed, %g counted", base, name, va, vb)
			}
		}
	}
}

// Of 400 clients with 1 that is rounded to 0 or 4, those that are rounded up send a message.
func TestRoundedCountsSendMessages(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	sum, err := NewBaseSum(Config{Clients: 400, Epsilon: 20, Delta: 1e-6, Relation: fl.ZeroOut, Base: GKMPS}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	p := sum.newPopulation(0)
	if err := p.addCounts([]Count{{1, 400}}, func(x int64) (input, error) { return input{value: x}, nil }, rng); err != nil {
		t.Fatal(err)
	}
	if width := sum.groups[0].sum.Width(); width < 2 || p.messages != p.sums[0] || p.messages == 0 || p.messages == 400 {
		t.Errorf("width %d: %d messages, sum %d", width, p.messages, p.sums[0])
	}
}

// SumDP puts counted inputs into the sub-domains of listed ones: with hardly any noise, and
// many clients, the estimates are the sum.
func TestCountedClientsOfSumDP(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	counts := []Count{{0, 1e9 - 3e8 - 6}, {1, 1e8}, {2, 1e8}, {5, 1e8}, {900, 6}}
	s, err := NewSumDP(Config{Clients: 1e9, Epsilon: 10, Delta: 1e-6, Relation: fl.ZeroOut}, 1000, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	e, messages, err := s.SimulateCounts(counts, rng)
	if err != nil {
		t.Fatal(err)
	}
	// The noise of 1000/ε has 100 standard deviations of room here.
	if want := 8e8 + 5400.; math.Abs(e.Value-want) > 5e4 || messages < 3e8+6 {
		t.Errorf("%g with %d messages, want %g", e.Value, messages, want)
	}
}

func TestWrongCountsAreRefused(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	c := Config{Clients: 10, Epsilon: 1, Delta: 1e-6, Relation: fl.ZeroOut}
	sum, err := NewBaseSum(c, 8)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := NewSumDP(c, 8, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		param  string
		counts []Count
	}{
		{"counts[0].Clients", []Count{{1, 11}}}, {"counts[0].Clients", []Count{{1, -1}}}, {"counts[1].Clients", []Count{{1, 5}, {2, 6}}},
		{"counts[0].Clients", []Count{{1, math.MaxInt64}, {1, math.MaxInt64}}},
		{"inputs", []Count{{1, 9}}}, {"x", []Count{{9, 10}}}, {"x", []Count{{-1, 10}}},
	} {
		var bad *fl.ParamError
		if _, _, err := sum.SimulateCounts(c.counts, rng); !errors.As(err, &bad) || bad.Param != c.param {
			t.Errorf("BaseSum, %v: %v, want it to name %s", c.counts, err, c.param)
		}
		if _, _, err := parts.SimulateCounts(c.counts, rng); !errors.As(err, &bad) || bad.Param != c.param {
			t.Errorf("SumDP, %v: %v, want it to name %s", c.counts, err, c.param)
		}
	}
}
