package trainer

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// simulated are rounds of 40 of 100 clients.
func simulated(t *testing.T, change func(*SimulationConfig)) (testCase, *Simulation) {
	t.Helper()
	c, clients := someClients(t, 100, 100)
	config := SimulationConfig{
		Gradients: on(t, c, clients, false), Cohort: 40, Rand: testRand(9),
		Describe: func(int) fl.Round {
			return fl.Round{
				ID: "r", Mechanism: coco.Name, Dim: c.model.Dim(), Scale: 1, Epsilon: 5, Relation: fl.ReplaceOne, MinReports: 1,
				PublicSeed: [32]byte{1}, Params: fl.Params{sparse.ParamSparsity: fl.Int(6)},
			}
		},
	}
	change(&config)
	s := must[*Simulation](t)(NewSimulation(config))
	t.Cleanup(func() { _ = errors.Join(s.Close(), s.Close()) })
	return c, s
}

// Without privacy a round's mean is the mean of its clients' gradients. These clients are the next
// in turn after the clients of the round before.
func TestASimulatedMeanIsTheClients(t *testing.T) {
	for _, shrunk := range []bool{false, true} {
		c, s := simulated(t, func(c *SimulationConfig) {
			describe := c.Describe
			if shrunk {
				m := c.Gradients.(*modelGradients)
				c.Gradients = must[Gradients](t)(m.clients.On(m.examples.m.net, true))
			}
			c.Describe = func(i int) fl.Round {
				r := describe(i)
				r.Mechanism, r.Params, r.Epsilon = baseline.None, nil, math.Inf(1)
				return r
			}
		})
		params := c.params(testRand(4))
		for round := range 4 {
			got, err := s.Mean(t.Context(), round, params)
			if err != nil || got.Reports != 40 {
				t.Fatalf("%+v, %v", got, err)
			}
			want := make([]float64, c.model.Dim())
			if err := s.c.Gradients.Each(t.Context(), params, 40*round, 40*(round+1), func(_ int, grad []float64) error {
				floats.AddScaled(want, 1./40, grad)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			// Dense reports are numbers of 32 bits.
			if !floats.EqualApprox(got.Mean().Value, want, 1e-6) {
				t.Errorf("shrunk %t, round %d: mean %g, want %g", shrunk, round, got.Mean().Value, want)
			}
			if want := int64(4 * c.model.Dim() * 40 * (round + 1)); s.Bytes() != want {
				t.Errorf("%d bytes after round %d, want %d", s.Bytes(), round, want)
			}
		}
	}
}

// Equal generators give equal rounds, and a round that is held again has another public
// seed and other noise.
func TestSimulationsRepeat(t *testing.T) {
	mean := func(s *Simulation) []float64 {
		e, err := s.Mean(t.Context(), 0, make([]float64, s.c.Gradients.Dim()))
		if err != nil {
			t.Fatal(err)
		}
		return e.Mean().Value
	}
	_, one := simulated(t, func(*SimulationConfig) {})
	_, two := simulated(t, func(*SimulationConfig) {})
	_, other := simulated(t, func(c *SimulationConfig) { c.Rand = testRand(10) })
	first := mean(one)
	if !slices.Equal(first, mean(two)) || slices.Equal(first, mean(other)) || slices.Equal(first, mean(one)) {
		t.Error("means do not follow the generator")
	}
	_, s := simulated(t, func(c *SimulationConfig) {
		c.Encode = func(m fl.Mechanism, dst []byte, i int, grad []float64, rng *rand.Rand) ([]byte, error) {
			return m.Encode(dst, grad, rng)
		}
	})
	if !slices.Equal(first, mean(s)) {
		t.Error("an Encode that is Mechanism.Encode changes the mean")
	}
}

// Encode sees every member of the cohort once, in order. A member that returns dst is not
// counted.
func TestMembersMayStayAway(t *testing.T) {
	var asked []int
	_, s := simulated(t, func(c *SimulationConfig) {
		c.Encode = func(m fl.Mechanism, dst []byte, i int, grad []float64, rng *rand.Rand) ([]byte, error) {
			if asked = append(asked, i); i%4 != 0 {
				return dst, nil
			}
			return m.Encode(dst, grad, rng)
		}
	})
	for round := range 2 {
		asked = nil
		e, err := s.Mean(t.Context(), round, make([]float64, s.c.Gradients.Dim()))
		if err != nil || e.Reports != 10 || len(asked) != 40 || !slices.IsSorted(asked) || asked[0] != 0 || asked[39] != 39 {
			t.Errorf("round %d: %+v from %v, %v, want 10 reports of 40 members", round, e, asked, err)
		}
	}
}

// Cohorts larger than a batch are counted whole.
func TestLargeCohorts(t *testing.T) {
	c, clients := someClients(t, 600, 600)
	_, s := simulated(t, func(config *SimulationConfig) { config.Gradients, config.Cohort = on(t, c, clients, false), 600 })
	e, err := s.Mean(t.Context(), 0, make([]float64, c.model.Dim()))
	if err != nil || e.Reports != 600 || s.Bytes() == 0 || s.Bytes()%600 != 0 {
		t.Errorf("%+v, %d bytes, %v, want 600 reports", e, s.Bytes(), err)
	}
}

func TestSimulationErrors(t *testing.T) {
	c, clients := someClients(t, 10, 5)
	good := SimulationConfig{Gradients: on(t, c, clients, false), Cohort: 5, Describe: func(int) fl.Round { return fl.Round{} }, Rand: testRand(1)}
	for want, change := range map[string]func(*SimulationConfig){
		"trainer: gradients: got <nil>":                     func(c *SimulationConfig) { c.Gradients = nil },
		"trainer: cohort: got 0, rule: must be in [1, 5]":   func(c *SimulationConfig) { c.Cohort = 0 },
		"trainer: cohort: got 6, rule: must be in [1, 5], ": func(c *SimulationConfig) { c.Cohort = 6 },
		"trainer: describe: got <nil>":                      func(c *SimulationConfig) { c.Describe = nil },
		"trainer: rand: got <nil>":                          func(c *SimulationConfig) { c.Rand = nil },
	} {
		config := good
		change(&config)
		_, err := NewSimulation(config)
		refuses(t, err, want)
	}
	s := must[*Simulation](t)(NewSimulation(good))
	defer s.Close()
	var p *fl.ParamError
	if _, err := s.Mean(t.Context(), 0, make([]float64, c.model.Dim())); !errors.As(err, &p) || p.Param != "mechanism" {
		t.Errorf("a round without a description: %v", err)
	}
	broken := errors.New("no battery")
	_, s = simulated(t, func(c *SimulationConfig) {
		c.Encode = func(_ fl.Mechanism, dst []byte, _ int, _ []float64, _ *rand.Rand) ([]byte, error) { return dst, broken }
	})
	if _, err := s.Mean(t.Context(), 0, make([]float64, s.c.Gradients.Dim())); !errors.Is(err, broken) {
		t.Errorf("got %v, want the client's error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Mean(ctx, 0, make([]float64, s.c.Gradients.Dim())); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
