package hdsum

import (
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

var long = flag.Bool("long", false, "more trials of every sum, and larger domains")

// Long is long for package hdsum_test.
var Long = long

// smallSum is a BaseSum with few messages and its clients' inputs. Budgets are
// large so that a test can afford many rounds.
type smallSum struct {
	name   string
	config Config
	bound  int64
	inputs []int64
	width  int64 // expected of the protocol
}

var smallSums = []smallSum{
	{"bbgn, small", Config{Clients: 3, Epsilon: 1, Delta: 0.01, Relation: fl.ReplaceOne, Base: BBGN}, 1, []int64{1, 0, 1}, 1},
	{"bbgn, large", Config{Clients: 3, Epsilon: 1, Delta: 0.01, Relation: fl.ReplaceOne, Base: BBGN}, 1000, []int64{1000, 0, 137}, 1},
	{"gkmps, small", Config{Clients: 3, Epsilon: 2, Delta: 0.1, Relation: fl.ReplaceOne, Base: GKMPS}, 1, []int64{1, 0, 1}, 1},
	{"gkmps, large", Config{Clients: 3, Epsilon: 20, Delta: 0.1, Relation: fl.ZeroOut, Base: GKMPS}, 6, []int64{6, 0, 5}, 1},
	{"gkmps, rounded", Config{Clients: 3, Epsilon: 5, Delta: 0.1, Relation: fl.ZeroOut, Base: GKMPS, Calibration: CalibrationTight}, 1000, []int64{1000, 0, 164}, 82},
	{"gkmps, tight", Config{Clients: 3, Epsilon: 8, Delta: 0.1, Relation: fl.ReplaceOne, Base: GKMPS, Calibration: CalibrationTight}, 4, []int64{4, 0, 3}, 1},
}

func (c smallSum) open(t *testing.T) *BaseSum {
	t.Helper()
	s, err := NewBaseSum(c.config, c.bound)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.groups[0].sum.Width(); got != c.width || s.Base() != c.config.Base {
		t.Fatalf("%s: %s of width %d, want %s of %d", c.name, s.Base(), got, c.config.Base, c.width)
	}
	return s
}

// outcome is the exact law of the sum in units of width: the inputs, rounded at
// random, and the noise of the calibration as the papers state it, e^(−ε*/U').
func (c smallSum) outcome() law {
	eta := c.config.Epsilon / float64(c.bound)
	if c.config.Base == GKMPS {
		eta = 0.9 * c.config.Epsilon / math.Ceil(float64(c.bound)/float64(c.width))
	}
	l := laplaceLaw(laplace(eta))
	for _, x := range c.inputs {
		up := float64(x%c.width) / float64(c.width)
		l = l.plus(law{low: x / c.width, p: []float64{1 - up, up}})
	}
	return l
}

// separately runs the clients one by one. It returns the estimate and the number of
// messages.
func separately(s *BaseSum, inputs []int64, rng *rand.Rand) (float64, int64, error) {
	sums, messages := s.NewSums(), int64(0)
	for _, x := range inputs {
		m, err := s.Encode(x, rng)
		if err != nil {
			return 0, 0, err
		}
		messages += m.Messages()
		if err := sums.Add(m); err != nil {
			return 0, 0, err
		}
	}
	estimate, err := s.Analyze(sums)
	return estimate, messages, err
}

// What separate clients send adds up to the true sum plus discrete Laplace noise,
// and Simulate draws from the same law, number of messages included. (6 sums of 4
// chi-square and 8 moment tests; where inputs are rounded, once with multiples of
// the width and once without.)
func TestSeparateClientsAndSimulateHaveTheExactLaw(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	const trials = 2500
	rounded := smallSums[4]
	rounded.name, rounded.inputs = "gkmps, rounded at random", []int64{999, 41, 164}
	for _, c := range append(smallSums[:len(smallSums):len(smallSums)], rounded) {
		s := c.open(t)
		rng := newRand(1)
		for what, run := range map[string]func(*BaseSum, []int64, *rand.Rand) (float64, int64, error){
			"separate": separately,
			"simulate": func(s *BaseSum, inputs []int64, rng *rand.Rand) (float64, int64, error) {
				return s.SimulateCounts(listed(inputs), rng)
			},
		} {
			totals := make([]int64, 0, trials)
			sums := draws(t, trials, func() (int64, error) {
				sum, messages, err := run(s, c.inputs, rng)
				totals = append(totals, messages)
				if sum != math.Trunc(sum) || int64(sum)%c.width != 0 {
					t.Errorf("%s, %s: %g is no multiple of %d", c.name, what, sum, c.width)
				}
				return int64(sum) / c.width, err
			})
			c.outcome().require(t, c.name+", "+what, sums)
			if c.config.Base == BBGN {
				for _, m := range totals {
					if m != int64(3*s.groups[0].sum.(bbgnSum).Messages()) {
						t.Fatalf("%s, %s: %d messages", c.name, what, m)
					}
				}
				continue
			}
			// Input 41 of width 82 is rounded to 0 half of the time: no real message.
			if c.inputs[1] == 0 {
				requireMessages(t, c.name+", "+what, s.layout, 2, totals)
			}
		}
	}
}

// Variance is the variance of the noise and, at its worst, of the rounding.
func TestBaseSumVariance(t *testing.T) {
	for _, c := range smallSums {
		s := c.open(t)
		noise := laplace(math.NaN())
		if noise.Eta = c.config.Epsilon / float64(c.bound); c.config.Base == GKMPS {
			noise.Eta = 0.9 * c.config.Epsilon / math.Ceil(float64(c.bound)/float64(c.width))
		}
		want := float64(c.width*c.width) * noise.Variance()
		if c.width > 1 {
			want += 3 * float64(c.width*c.width) / 4
		}
		if got := s.Variance(); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: variance %g, want %g", c.name, got, want)
		}
	}
}

func TestBaseSumRefuses(t *testing.T) {
	rng := newRand(2)
	for _, c := range smallSums {
		s := c.open(t)
		other := c.open(t)
		if _, err := s.Analyze(other.NewSums()); !isParam(err, "sums") {
			t.Errorf("%s: sums of another protocol: %v", c.name, err)
		}
		for _, x := range []int64{-1, c.bound + 1, math.MinInt64, math.MaxInt64} {
			if _, err := s.Encode(x, rng); !isParam(err, "x") {
				t.Errorf("%s: input %d: %v", c.name, x, err)
			}
		}
		if _, _, err := s.SimulateCounts(listed(c.inputs[:2]), rng); !isParam(err, "inputs") {
			t.Errorf("%s: simulation of too few clients: %v", c.name, err)
		}
		for _, x := range []int64{-1, c.bound + 1} {
			if _, _, err := s.SimulateCounts(listed([]int64{0, x, 0}), rng); !isParam(err, "x") {
				t.Errorf("%s: simulation of input %d: %v", c.name, x, err)
			}
		}
	}
}

func isParam(err error, param string) bool {
	var p *fl.ParamError
	return errors.As(err, &p) && p.Param == param
}
