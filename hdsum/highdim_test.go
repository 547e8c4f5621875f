package hdsum

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/rotation"
)

func newHighDim(t testing.TB, c HighDimConfig) *HighDimSum {
	t.Helper()
	h, err := NewHighDimSum(c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func vectorsSeparately(h *HighDimSum, vectors [][]int64, rng *rand.Rand) (*VectorEstimate, int64, error) {
	sums, messages := h.NewSums(), int64(0)
	for _, x := range vectors {
		m, err := h.Encode(x, rng)
		if err != nil {
			return nil, 0, err
		}
		messages += m.Messages()
		if err := sums.Add(m); err != nil {
			return nil, 0, err
		}
	}
	e, err := h.Analyze(sums)
	return e, messages, err
}

func vectorsTogether(h *HighDimSum, vectors [][]int64, rng *rand.Rand) (*VectorEstimate, int64, error) {
	p := h.NewPopulation()
	for _, x := range vectors {
		if err := p.Add(x, rng); err != nil {
			return nil, 0, err
		}
	}
	return p.Estimate(rng)
}

// A population has the law of separate clients (2 chi-square tests of two
// coordinates each, 4 moments of the number of messages).
func TestPopulationOfVectors(t *testing.T) {
	trials := map[Protocol]int{BBGN: 1200, GKMPS: 400}
	if !*long {
		trials = map[Protocol]int{BBGN: 1200, GKMPS: 200}
	}
	vectors := [][]int64{{1, -1}, {0, 0}, {-1, 1}, {1, 1}}
	for base, trials := range trials {
		h := newHighDim(t, HighDimConfig{
			Config: Config{Clients: 4, Epsilon: 6, Delta: 0.1, Relation: fl.ZeroOut, Base: base, Calibration: CalibrationTight},
			Dim:    2, Norm: 1, Beta: 0.9, Key: [32]byte{1},
		})
		rng := newRand(40)
		var sums, totals [2][]int64
		for k, run := range []func(*HighDimSum, [][]int64, *rand.Rand) (*VectorEstimate, int64, error){vectorsSeparately, vectorsTogether} {
			sums[k] = draws(t, trials, func() (int64, error) {
				e, messages, err := run(h, vectors, rng)
				totals[k] = append(totals[k], messages)
				if err != nil {
					return 0, err
				}
				return int64(2*e.Value[0] + 6*e.Value[1]), nil // halves, d' = 2
			})
			if base == GKMPS {
				// Each vector has one or two non-zero rotated coordinates: 1 + 1 + 1.
				requireMessages(t, "HighDimSum", h.layout, 3, totals[k])
			}
		}
		requireSameLaw(t, "HighDimSum, "+base.String(), sums[0], sums[1])
	}
}

// Many clients with one vector: every rotated coordinate stands out or is 0, so that
// nothing is dropped and the errors have the announced size. (200 coordinates beyond
// 7 standard errors: below 1e-9 each for sums of hundreds of Laplace variables. The
// mean square of 50 of them, which are nearly independent and normal, has standard
// deviation 0.2: beyond 0.3 and 2.5 with 1e-7.)
func TestHighDimSumIsNearTheTruth(t *testing.T) {
	const dim, clients = 50, int64(3000)
	for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
		for _, composition := range []Composition{Tight, Paper} {
			h := newHighDim(t, HighDimConfig{
				Config: Config{Clients: int(clients), Epsilon: 20, Delta: 1e-6, Relation: relation},
				Dim:    dim, Norm: 300, Composition: composition, Beta: 1e-9, Key: [32]byte{2},
			})
			rng := newRand(41)
			p := h.NewPopulation()
			x := make([]int64, dim)
			for i := range x {
				x[i] = int64(40 * math.Sin(float64(i)))
			}
			for range clients {
				if err := p.Add(x, rng); err != nil {
					t.Fatal(err)
				}
			}
			e, _, err := p.Estimate(rng)
			if err != nil {
				t.Fatal(err)
			}
			square, size := 0.0, 0.0
			for i, v := range e.Value {
				want := float64(clients * x[i])
				z := (v - want) / e.StdErr
				if math.Abs(z) > 7 {
					t.Errorf("%s, %s, coordinate %d: %.0f, want %.0f ± %.0f", relation, composition, i, v, want, e.StdErr)
				}
				square += z * z / dim
				size += want * want / dim
			}
			if square < 0.3 || square > 2.5 || e.StdErr > 0.05*math.Sqrt(size) {
				t.Errorf("%s, %s: mean squared error %.2f standard errors, which are %.0f of %.0f", relation, composition, square, e.StdErr, math.Sqrt(size))
			}
			if e.Kept < 0.4 || e.Kept > 1 {
				t.Errorf("%s, %s: kept %.2f", relation, composition, e.Kept)
			}
			t.Logf("%s, %s: standard error %.1f of %.0f, mean squared error %.2f of it, kept %.2f", relation, composition, e.StdErr, math.Sqrt(size), square, e.Kept)
		}
	}
}

// With every sub-domain, combine subtracts negative from positive sums; otherwise
// each one-sided sum keeps what stands out of its own noise.
func TestCombine(t *testing.T) {
	h := newHighDim(t, HighDimConfig{Config: Config{Clients: 100, Epsilon: 1, Delta: 1e-6, Relation: fl.ZeroOut}, Dim: 2, Norm: 1, Beta: 0.1})
	c := h.coordinates
	high := c.domains.thresholds
	estimates := make([]float64, c.instances)
	// Instances of sub-domain j: positive parts of both coordinates, then negative.
	estimates[c.groups[0].first], estimates[c.groups[1].first] = 3, high[1]+1
	estimates[c.groups[2].first] = 5
	estimates[c.groups[0].first+3] = 7
	estimates[c.groups[1].first+2] = high[1] + 2
	kept := c.combine(estimates, false)
	variance := c.groups[0].sum.variance() + c.groups[1].sum.variance()
	if kept.values[0] != 3+(high[1]+1)-(high[1]+2) || kept.values[1] != 0 || kept.kept != 2 ||
		kept.variances[0] != 2*variance || kept.variances[1] != 0 {
		t.Errorf("kept %+v", kept)
	}
	every := c.combine(estimates, true)
	for j := 2; j < len(c.groups); j++ {
		variance += c.groups[j].sum.variance()
	}
	if math.Abs(every.values[0]-7) > 1e-9 || every.values[1] != -7 || every.kept != 4 || math.Abs(every.variances[1]-2*variance) > 1e-9*variance {
		t.Errorf("every %+v, variance %g", every, 2*variance)
	}
}

// Rotated coordinates are clipped at the documented bound, ‖x‖₂·√(2·ln(4d'n/β'))
// with β' = β/2: a vector that is too long loses accuracy, not privacy.
func TestLongVectorsAreClipped(t *testing.T) {
	h := newHighDim(t, HighDimConfig{Config: Config{Clients: 10, Epsilon: 1, Delta: 1e-6, Relation: fl.ZeroOut}, Dim: 5, Norm: 4, Beta: 0.2})
	want := int64(math.Ceil(4 * math.Sqrt(2*math.Log(4*8*10/0.1))))
	if h.Bound() != want || h.rotation.PaddedDim() != 8 || h.instances != 16*len(h.groups) {
		t.Errorf("bound %d, want %d; %d instances in %d groups", h.Bound(), want, h.instances, len(h.groups))
	}
	long := []int64{1e9, -1e9, 1e9, 1e9, 1e9}
	dst := make([]int64, 8)
	if _, err := h.rotate(dst, long); err != nil {
		t.Fatal(err)
	}
	for i, v := range dst {
		if v != want && v != -want {
			t.Errorf("coordinate %d is %d, want ±%d", i, v, want)
		}
	}
	if _, err := h.Encode(long, newRand(42)); err != nil {
		t.Error(err)
	}
	short := []int64{2, 0, -2, 2, 0}
	plain := make([]int64, 8)
	r, err := rotation.New(5, [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.ForwardInt(plain, short); err != nil {
		t.Fatal(err)
	}
	if _, err := h.rotate(dst, short); err != nil {
		t.Fatal(err)
	}
	for i := range dst {
		if dst[i] != plain[i] {
			t.Errorf("a short vector was changed: coordinate %d is %d, want %d", i, dst[i], plain[i])
		}
	}
}

func TestHighDimSumRefuses(t *testing.T) {
	good := HighDimConfig{Config: Config{Clients: 10, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne}, Dim: 3, Norm: 5, Beta: 0.1}
	for what, c := range map[string]struct {
		mutate func(*HighDimConfig)
		param  string
	}{
		"no clients":      {func(c *HighDimConfig) { c.Clients = 0 }, "clients"},
		"many clients":    {func(c *HighDimConfig) { c.Clients = fl.MaxReports + 1 }, "clients"},
		"no dim":          {func(c *HighDimConfig) { c.Dim = 0 }, "dim"},
		"norm 0":          {func(c *HighDimConfig) { c.Norm = 0 }, "norm"},
		"large norm":      {func(c *HighDimConfig) { c.Norm = 1<<30 + 1 }, "norm"},
		"NaN":             {func(c *HighDimConfig) { c.Epsilon = math.NaN() }, "epsilon"},
		"no privacy":      {func(c *HighDimConfig) { c.Epsilon = math.Inf(1) }, "epsilon"},
		"delta":           {func(c *HighDimConfig) { c.Delta = 1 }, "delta"},
		"no relation":     {func(c *HighDimConfig) { c.Relation = 0 }, "relation"},
		"beta 0":          {func(c *HighDimConfig) { c.Beta = 0 }, "beta"},
		"NaN beta":        {func(c *HighDimConfig) { c.Beta = math.NaN() }, "beta"},
		"composition":     {func(c *HighDimConfig) { c.Composition = 5 }, "composition"},
		"base":            {func(c *HighDimConfig) { c.Base = 5 }, "base"},
		"too small a cap": {func(c *HighDimConfig) { c.Base, c.Capacity = BBGN, 9 }, "capacity"},
	} {
		config := good
		c.mutate(&config)
		if _, err := NewHighDimSum(config); !isParam(err, c.param) {
			t.Errorf("%s: error %v, want a ParamError for %s", what, err, c.param)
		}
	}
	h := newHighDim(t, good)
	for what, x := range map[string][]int64{"short": {1, 2}, "long": {1, 2, 3, 4}, "overflow": {math.MaxInt64, math.MaxInt64, 1}} {
		if _, err := h.Encode(x, newRand(43)); !isParam(err, "x") {
			t.Errorf("%s: error %v", what, err)
		}
		if err := h.NewPopulation().Add(x, newRand(43)); !isParam(err, "x") {
			t.Errorf("%s, population: error %v", what, err)
		}
	}
	if _, err := h.Analyze(newHighDim(t, good).NewSums()); !isParam(err, "sums") {
		t.Errorf("foreign sums: error %v", err)
	}
	if _, _, err := h.NewPopulation().Estimate(newRand(43)); !isParam(err, "inputs") {
		t.Errorf("an empty population: error %v", err)
	}
}

// In no one-sided sum of any coordinate does noise alone keep a sub-domain, but with probability Beta/2 of
// them all: exactly, from the laws of the instances. The other half is for clipping.
func TestNoiseAloneKeepsNothingOfAVector(t *testing.T) {
	for _, relation := range []fl.Relation{fl.ZeroOut, fl.ReplaceOne} {
		for _, base := range []Protocol{GKMPS, BBGN} {
			const dim, beta = 64, 0.1
			h := newHighDim(t, HighDimConfig{
				Config: Config{Clients: 1000, Epsilon: 5, Delta: 1e-6, Relation: relation, Base: base},
				Dim:    dim, Norm: 16, Beta: beta, Key: [32]byte{1},
			})
			total := 0.0
			for j, g := range h.groups {
				least := math.Floor(h.domains.thresholds[j]/float64(g.sum.Width())) + 1
				total += float64(g.count) * g.sum.Noise().CDF(-int64(least)) // symmetric
				// With BBGN η is the ε of an instance over its bound.
				want := 1.3 * math.Log(2*float64(len(h.groups))*2*dim/(beta/2))
				if got := h.domains.thresholds[j] * g.sum.Noise().Eta; base == BBGN && math.Abs(got-want) > 1e-9*want {
					t.Errorf("%v: threshold %d is %.12g of the noise, want %.12g", relation, j, got, want)
				}
			}
			if !(total <= beta/2) {
				t.Errorf("%v, %v: noise counts with probability %g, want at most %g", relation, base, total, beta/2)
			}
		}
	}
}
