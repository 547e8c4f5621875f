package trainer

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// scaledNoise returns a mean of 100 coordinates, as long as factor times its noise.
func scaledNoise(factor float64) *fl.Estimate {
	value, stdErr := slices.Repeat([]float64{factor, -factor}, 50), slices.Repeat([]float64{1}, 100)
	return fl.NewEstimate(fl.Round{}, fl.Guarantee{}, 5, fl.Series{Value: value, StdErr: stdErr})
}

// Three rounds of noise are lost. With one fewer, with signal, with widened errors or with an unknown noise they are not.
// Noise alone adds 100 to the squared norm, with a variance of 200: of three rounds two standard deviations are 49.
func TestRoundsOfNoiseAreLost(t *testing.T) {
	unknown, wide := scaledNoise(1), scaledNoise(1.1)
	unknown.NoiseNorm = math.NaN()
	for i := range wide.Mean().StdErr {
		wide.Mean().StdErr[i] = 3 // the norm of the noise is 10 all the same
	}
	for _, c := range []struct {
		rounds []*fl.Estimate
		want   bool
	}{
		{[]*fl.Estimate{scaledNoise(1), scaledNoise(1), scaledNoise(1)}, true},
		{[]*fl.Estimate{scaledNoise(0.9), scaledNoise(1), scaledNoise(1.2)}, true}, // −19 and 44
		{[]*fl.Estimate{scaledNoise(1), scaledNoise(1)}, false},
		{[]*fl.Estimate{scaledNoise(1), scaledNoise(1), scaledNoise(1.25)}, false}, // 56
		{[]*fl.Estimate{wide, wide, wide}, false},                                  // 63
		{[]*fl.Estimate{scaledNoise(1), scaledNoise(1), unknown}, false},
	} {
		var all []evidence
		for _, e := range c.rounds {
			all = append(all, evidenceOf(e))
		}
		if got := lost(all, 3); got != c.want {
			t.Errorf("%v: lost is %v", all, got)
		}
	}
}

// Run says it of the last rounds, and not of older ones: of a quarter of the planned rounds, and at least three.
func TestRunSaysWhenRoundsAreLost(t *testing.T) {
	for planned, want := range map[int][]bool{
		7:  {false, false, false, true, true, false, false},
		16: {false, false, false, false, true, false, false},
	} {
		var means noisyMeans
		for _, factor := range []float64{3, 1, 1, 1, 1, 3, 1} {
			means = append(means, scaledNoise(factor))
		}
		var got []bool
		if _, err := Run(t.Context(), means, make([]float64, 100), RunConfig{Rounds: planned, Steps: Momentum(0.1, 0, 0), After: func(p Progress) error {
			got = append(got, p.Lost)
			if len(got) == len(means) {
				return ErrStop
			}
			return nil
		}}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d rounds, lost: %v, want %v", planned, got, want)
		}
	}
}

// Run says it of the first rounds: of as many, and of no later ones. One strong round among them is enough, and a weak one is not.
func TestRunSaysWhenFirstRoundsStoodOut(t *testing.T) {
	for _, c := range []struct {
		planned int
		factors []float64
		want    []bool
	}{
		{7, []float64{1, 1, 3, 1, 1}, []bool{false, false, true, true, true}},
		{7, []float64{3, 1, 1, 1, 1}, []bool{false, false, true, true, true}},
		{7, []float64{1, 1, 1.2, 1, 1}, []bool{false, false, false, false, false}}, // 44
		{7, []float64{1, 1, 1.25, 1, 1}, []bool{false, false, true, true, true}},   // 56
		{7, []float64{1, 1, 1, 3, 3}, []bool{false, false, false, false, false}},
		{16, []float64{1, 1, 1, 3, 1}, []bool{false, false, false, true, true}},
		{7, []float64{0, 0, 3, 1, 1}, []bool{false, false, true, true, true}},
		{7, []float64{0.5, 0.5, 1.25, 1, 1}, []bool{false, false, false, false, false}},
	} {
		var means noisyMeans
		for _, factor := range c.factors {
			means = append(means, scaledNoise(factor))
		}
		var got []bool
		if _, err := Run(t.Context(), means, make([]float64, 100), RunConfig{Rounds: c.planned, Steps: Momentum(0.1, 0, 0), After: func(p Progress) error {
			got = append(got, p.Found)
			if len(got) == len(means) {
				return ErrStop
			}
			return nil
		}}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d rounds of %v, found: %v, want %v", c.planned, c.factors, got, c.want)
		}
	}
}

// noisyMeans are rounds with these estimates.
type noisyMeans []*fl.Estimate

func (m noisyMeans) Mean(_ context.Context, round int, _ []float64) (*fl.Estimate, error) {
	return m[round], nil
}
