package bbgn_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/internal/bbgn"
)

func newRand(seed byte) *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{seed})) }

func mustNew(t testing.TB, c bbgn.Config) *bbgn.Protocol {
	t.Helper()
	p, err := bbgn.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run returns what the analyzer gets from clients with the given inputs.
func run(t *testing.T, p *bbgn.Protocol, inputs []int64, rng *rand.Rand) int64 {
	t.Helper()
	var (
		messages []uint64
		sum      uint64
		err      error
	)
	for _, x := range inputs {
		if messages, err = p.Encode(messages, x, rng); err != nil {
			t.Fatal(err)
		}
	}
	if len(messages) != len(inputs)*p.Messages() {
		t.Fatalf("%d messages from %d clients, want %d each", len(messages), len(inputs), p.Messages())
	}
	for _, v := range messages {
		if v >= p.Modulus() {
			t.Fatalf("message %d is not below the modulus %d", v, p.Modulus())
		}
		sum = p.Add(sum, v)
	}
	return p.Decode(sum)
}

// With ε/U = 50 there is noise with probability 4e-22: sums are exact. In the last
// case a few of 2^58 clients report and the modulus is 0.97·2^63.
func TestSumsWithoutNoise(t *testing.T) {
	rng := newRand(7)
	for _, c := range []bbgn.Config{
		{Clients: 1, Bound: 1 << 20, Epsilon: 50 << 20, Delta: 1e-6},
		{Clients: 3, Bound: 1, Epsilon: 60, Delta: 1e-6},
		{Clients: 7, Bound: 3, Epsilon: 150, Delta: 1e-6},
		{Clients: 1 << 58, Bound: 31, Epsilon: 1550, Delta: 1e-6},
	} {
		p := mustNew(t, c)
		for range 20 {
			inputs, want := make([]int64, min(c.Clients, 30)), int64(0)
			for i := range inputs {
				inputs[i] = rng.Int64N(c.Bound + 1)
				want += inputs[i]
			}
			if got := run(t, p, inputs, rng); got != want {
				t.Errorf("%+v: got %d, want %d", c, got, want)
			}
		}
	}
}

func TestDecodeEdges(t *testing.T) {
	for _, c := range []bbgn.Config{
		{Clients: 5, Bound: 1000, Epsilon: 1, Delta: 1e-6},
		{Clients: 5, Capacity: 23, Bound: 2, Epsilon: 0.1, Delta: 1e-6},
		{Clients: 1, Bound: 1<<63 - 1<<51, Epsilon: 1e8, Delta: 1e-6}, // T = 2.6e12
	} {
		p := mustNew(t, c)
		q, slack := p.Modulus(), p.Slack()
		largest := int64(max(c.Clients, c.Capacity))*c.Bound + slack
		if q != uint64(largest)+uint64(slack)+1 || slack < 1 {
			t.Errorf("%+v: modulus %d, slack %d", c, q, slack)
		}
		for _, v := range []struct {
			sum  uint64
			want int64
		}{
			{0, 0}, {1, 1}, {uint64(largest), largest}, {uint64(largest) + 1, -slack}, {q - uint64(slack), -slack}, {q - 1, -1}, {q, 0}, {q + 3, 3}, {2*q - 1, -1},
		} {
			if got := p.Decode(v.sum); got != v.want {
				t.Errorf("%+v: Decode(%d) = %d, want %d", c, v.sum, got, v.want)
			}
		}
		for _, v := range [][3]uint64{{0, 0, 0}, {q - 1, 1, 0}, {q - 1, q - 1, q - 2}, {1, 2, 3}, {q, q, 0}, {q + 5, q + 6, 11}, {math.MaxUint64, 0, math.MaxUint64 % q}, {math.MaxUint64, math.MaxUint64, 2 * (math.MaxUint64 % q) % q}} {
			if got := p.Add(v[0], v[1]); got != v[2] {
				t.Errorf("%+v: Add(%d, %d) = %d, want %d", c, v[0], v[1], got, v[2])
			}
		}
	}
}

func TestCapacity(t *testing.T) {
	c := bbgn.Config{Clients: 4, Bound: 100, Epsilon: 2, Delta: 1e-6}
	same := mustNew(t, c)
	c.Capacity = 4
	if p := mustNew(t, c); *p != *same {
		t.Errorf("Capacity = Clients: got %+v, want %+v", p, same)
	}
	c.Capacity = 10
	p := mustNew(t, c)
	// Three discrete Laplace variables, each within (U/ε)·ln(6·2^40), cover ten reports.
	if want := 3 * int64(math.Ceil(50*(math.Log(6)+40*math.Ln2))); p.Slack() != want {
		t.Errorf("slack %d, want %d", p.Slack(), want)
	}
	if p.Clients() != 4 || p.NoiseVariance() != same.NoiseVariance() {
		t.Errorf("Clients %d, variance %v; want 4, %v", p.Clients(), p.NoiseVariance(), same.NoiseVariance())
	}
	inputs := slices.Repeat([]int64{c.Bound}, c.Capacity)
	rng := newRand(17)
	const repeats = 4000
	mean, square := 0., 0.
	for range repeats {
		d := float64(run(t, p, inputs, rng)) - 1000
		mean += d / repeats
		square += d * d / repeats
	}
	// The noise of ten reports has 2.5 times the variance, and kurtosis 3 + 3/2.5 as
	// DLap has 3 + 3 for η near 0. Six deviations: 2e-9 each.
	variance := 2.5 * p.NoiseVariance()
	if math.Abs(mean) > 6*math.Sqrt(variance/repeats) {
		t.Errorf("ten full reports: mean error %v", mean)
	}
	if math.Abs(square/variance-1) > 6*math.Sqrt(3.2/repeats) {
		t.Errorf("ten full reports: mean squared error %v, want %v", square, variance)
	}
}

// The noise is never less than the noise for ε/U: not by a rounding, and not where η is
// out of the samplers' range.
func TestNoiseIsRoundedUp(t *testing.T) {
	for bound := int64(1); bound <= 100; bound++ {
		for _, epsilon := range []float64{0.1, 0.7, 1, 3, 49} {
			eta := mustNew(t, bbgn.Config{Clients: 3000, Bound: bound, Epsilon: epsilon, Delta: 1e-6}).Noise().Eta
			if over := math.FMA(eta, float64(bound), -epsilon); over > 0 || over < -1e-13 { // exact up to its own rounding
				t.Errorf("U=%d ε=%v: η·U − ε = %g", bound, epsilon, over)
			}
		}
	}
	if eta := mustNew(t, bbgn.Config{Clients: 3000, Bound: 2, Epsilon: 200, Delta: 1e-6}).Noise().Eta; eta != 50 {
		t.Errorf("ε/U = 100: η = %v, want 50", eta)
	}
}

func TestNewRefuses(t *testing.T) {
	good := bbgn.Config{Clients: 10, Bound: 5, Epsilon: 1, Delta: 1e-6}
	for param, changes := range map[string][]func(*bbgn.Config){
		"clients":  {func(c *bbgn.Config) { c.Clients = 0 }, func(c *bbgn.Config) { c.Clients = -1 }},
		"capacity": {func(c *bbgn.Config) { c.Capacity = 9 }, func(c *bbgn.Config) { c.Capacity = -1 }},
		"bound": {
			func(c *bbgn.Config) { c.Bound = 0 }, func(c *bbgn.Config) { c.Bound = -5 },
			func(c *bbgn.Config) { c.Bound, c.Epsilon = math.MaxInt64/10, 1e8 },
			func(c *bbgn.Config) { c.Bound, c.Clients, c.Epsilon = 1<<40, 1<<40, 1e4 },
			func(c *bbgn.Config) { c.Bound, c.Clients, c.Capacity, c.Epsilon = 1, 1, 1<<60, 1e-3 },
			func(c *bbgn.Config) { c.Capacity = math.MaxInt },
		},
		"epsilon": {
			func(c *bbgn.Config) { c.Epsilon = 0 }, func(c *bbgn.Config) { c.Epsilon = -1 }, func(c *bbgn.Config) { c.Epsilon = math.NaN() },
			func(c *bbgn.Config) { c.Epsilon = math.Inf(1) }, func(c *bbgn.Config) { c.Epsilon = 1e6 },
			func(c *bbgn.Config) { c.Epsilon = 1e-300 }, func(c *bbgn.Config) { c.Bound = 1 << 60 },
		},
		"delta": {func(c *bbgn.Config) { c.Delta = 0 }, func(c *bbgn.Config) { c.Delta = 1 }, func(c *bbgn.Config) { c.Delta = math.NaN() }},
	} {
		for _, change := range changes {
			c := good
			change(&c)
			_, err := bbgn.New(c)
			var p *fl.ParamError
			if !errors.As(err, &p) || p.Param != param {
				t.Errorf("%+v: got %v, want an error about %s", c, err, param)
			}
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	p := mustNew(t, bbgn.Config{Clients: 10, Bound: 5, Epsilon: 1, Delta: 1e-6})
	for _, x := range []int64{-1, 6, math.MinInt64, math.MaxInt64} {
		got, err := p.Encode([]uint64{42}, x, newRand(1))
		var param *fl.ParamError
		if !errors.As(err, &param) || param.Param != "x" || !slices.Equal(got, []uint64{42}) {
			t.Errorf("x = %d: got %v, %v", x, got, err)
		}
	}
}

func TestEncodeDoesNotAllocate(t *testing.T) {
	p := mustNew(t, bbgn.Config{Clients: 3, Bound: 1000, Epsilon: 1, Delta: 1e-6})
	messages, rng := make([]uint64, 0, p.Messages()), newRand(1)
	if n := testing.AllocsPerRun(1000, func() { messages, _ = p.Encode(messages[:0], 7, rng) }); n != 0 {
		t.Errorf("%v allocations per client", n)
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, c := range map[string]bbgn.Config{
		"n=100/U=1000":    {Clients: 100, Bound: 1000, Epsilon: 1, Delta: 1e-6},
		"n=100000/U=1024": {Clients: 100_000, Bound: 1024, Epsilon: 1, Delta: 1e-12},
	} {
		b.Run(name, func(b *testing.B) {
			p := mustNew(b, c)
			messages, rng := make([]uint64, 0, p.Messages()), newRand(1)
			b.ReportAllocs()
			for b.Loop() {
				messages, _ = p.Encode(messages[:0], 7, rng)
			}
			b.ReportMetric(float64(b.N*p.Messages())/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
