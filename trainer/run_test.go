package trainer

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// meansOf are rounds that give these means, with standard errors of half of them.
type meansOf [][]float64

func (m meansOf) Mean(_ context.Context, round int, params []float64) (*fl.Estimate, error) {
	if round >= len(m) {
		return nil, errors.New("no such round")
	}
	half := make([]float64, len(params))
	for i, v := range m[round] {
		half[i] = v / 2
	}
	e := fl.NewEstimate(fl.Round{}, fl.Guarantee{}, 5, fl.Series{Value: m[round], StdErr: half})
	for i := range half {
		half[i] *= 3 // widened
	}
	return e, nil
}

// Run is the optimizer and the average, round by round.
func TestRunStepsAlongTheMeans(t *testing.T) {
	means := meansOf{{1, -2}, {0.5, 4}, {-3, 0}}
	steps := Momentum(0.1, 0.5, 0.8)
	o := must[*Optimizer](t)(NewOptimizer(steps.Optimizer, 2))
	a := must[*Average](t)(NewAverage(2, 0.8))
	want, average := []float64{3, 7}, make([]float64, 2)
	start, rounds := slices.Clone(want), 0
	got, err := Run(t.Context(), means, start, RunConfig{Rounds: 3, Steps: steps, After: func(p Progress) error {
		if p.Round != rounds || p.Estimate.Reports != 5 {
			t.Errorf("round %d: %+v", rounds, p)
		}
		if err := errors.Join(o.Step(want, means[rounds]), a.Add(want), a.Params(average)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.Params, want) || !slices.Equal(p.Average, average) {
			t.Errorf("round %d: at %g with the average %g, want %g and %g", rounds, p.Params, p.Average, want, average)
		}
		rounds++
		return nil
	}})
	if err != nil || rounds != 3 || !slices.Equal(got, average) || slices.Equal(got, want) {
		t.Errorf("%d rounds to %g, want 3 and the average %g, %v", rounds, got, average, err)
	}
	if start[0] != 3 || start[1] != 7 {
		t.Errorf("the first model became %g", start)
	}
	// Decay 0: the last model counts.
	steps.Averaging = 0
	if got, err = Run(t.Context(), means, start, RunConfig{Rounds: 3, Steps: steps}); err != nil || !slices.Equal(got, want) {
		t.Errorf("without averaging: %g, want %g, %v", got, want, err)
	}
}

// A step leaves out the coordinates at which clients lie, and the estimate stays as it is.
func TestAStepLeavesOutSuspects(t *testing.T) {
	mean := []float64{1, 200, 3}
	lied := roundsFunc(func() (*fl.Estimate, error) {
		e := fl.NewEstimate(fl.Round{}, fl.Guarantee{}, 5, fl.Series{Value: mean})
		e.Suspects = []int{1}
		return e, nil
	})
	got, err := Run(t.Context(), lied, []float64{0, 7, 0}, RunConfig{Rounds: 1, Steps: Momentum(1, 0, 0)})
	if err != nil || !slices.Equal(got, []float64{-1, 7, -3}) || mean[1] != 200 {
		t.Errorf("%v, %v, with the mean %v", got, err, mean)
	}
}

// Steps can follow from the noise of the first round: √((0.5² + 1²)/2) for the mean (1, −2).
func TestStepsFromTheNoise(t *testing.T) {
	calls := 0
	got, err := Run(t.Context(), meansOf{{1, -2}, {10, 10}}, []float64{0, 0}, RunConfig{
		Rounds: 2, Steps: Momentum(math.NaN(), 7, 7), // not read
		Choose: func(noise float64) Steps {
			calls++
			if want := math.Sqrt((0.25 + 1) / 2); math.Abs(noise-want) > 1e-15 {
				t.Errorf("noise %g, want %g", noise, want)
			}
			return Momentum(2, 0, 0)
		},
	})
	if err != nil || calls != 1 || !slices.Equal(got, []float64{-22, -16}) {
		t.Errorf("%d calls, model %g, want 1 and (−22, −16), %v", calls, got, err)
	}
	silent := roundsFunc(func() (*fl.Estimate, error) {
		return fl.NewEstimate(fl.Round{}, fl.Guarantee{}, 5, fl.Series{Value: []float64{1}}), nil
	})
	if _, err := Run(t.Context(), silent, []float64{0}, RunConfig{Rounds: 1, Choose: func(noise float64) Steps {
		if noise != 0 {
			t.Errorf("noise %g without standard errors, want 0", noise)
		}
		return Momentum(1, 0, 0)
	}}); err != nil {
		t.Error(err)
	}
}

// roundsFunc are rounds that are all alike.
type roundsFunc func() (*fl.Estimate, error)

func (f roundsFunc) Mean(context.Context, int, []float64) (*fl.Estimate, error) { return f() }

func TestRunsEnd(t *testing.T) {
	means := meansOf{{1}, {1}, {1}}
	steps := Momentum(1, 0, 0)
	got, err := Run(t.Context(), means, []float64{0}, RunConfig{Rounds: 3, Steps: steps, After: func(p Progress) error {
		if p.Round == 1 {
			return ErrStop
		}
		return nil
	}})
	if err != nil || got[0] != -2 {
		t.Errorf("stopped after two rounds: model %g, want −2, %v", got, err)
	}
	full := errors.New("disk full")
	if _, err := Run(t.Context(), means, []float64{0}, RunConfig{Rounds: 3, Steps: steps, After: func(Progress) error { return full }}); !errors.Is(err, full) || !strings.HasPrefix(err.Error(), "trainer: round 1: ") {
		t.Errorf("got %v, want that the disk is full in round 1", err)
	}
	if _, err := Run(t.Context(), means, []float64{0}, RunConfig{Rounds: 4, Steps: steps}); err == nil || err.Error() != "trainer: round 4: no such round" {
		t.Errorf("got %v, want the error of round 4", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, means, []float64{0}, RunConfig{Rounds: 3, Steps: steps}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestRunErrors(t *testing.T) {
	means := meansOf{{1}}
	for want, c := range map[string]RunConfig{
		"trainer: rounds: got 0, rule: must be at least 1": {},
		"trainer: learning rate: got 0":                    {Rounds: 1, Steps: Momentum(0, 0, 0)},
		"trainer: decay: got 1":                            {Rounds: 1, Steps: Momentum(1, 0, 1)},
		"trainer: round 1: trainer: momentum: got 2":       {Rounds: 1, Choose: func(float64) Steps { return Momentum(1, 2, 0) }},
	} {
		model, err := Run(t.Context(), means, []float64{0}, c)
		if refuses(t, err, want); model != nil {
			t.Errorf("%s: got a model", want)
		}
	}
	good := RunConfig{Rounds: 1, Steps: Momentum(1, 0, 0)}
	_, err := Run(t.Context(), means, []float64{0, 0}, good)
	refuses(t, err, "trainer: round 1: gradient: got 1, rule: must have 2 elements")
	_, err = Run(t.Context(), meansOf{{math.NaN()}}, []float64{0}, good)
	refuses(t, err, "trainer: round 1: gradient[0]: got NaN")
	_, err = Run(t.Context(), roundsFunc(func() (*fl.Estimate, error) { return nil, nil }), []float64{0}, good)
	refuses(t, err, "trainer: round 1: trainer: estimate: got <nil>")
	_, err = Run(t.Context(), roundsFunc(func() (*fl.Estimate, error) { return &fl.Estimate{}, nil }), []float64{0}, good)
	refuses(t, err, "trainer: round 1: gradient: got 0")
}

// A step that the check refuses leaves model and average as they are, and the next step has no momentum from it.
func TestARefusedStepIsNotTaken(t *testing.T) {
	means := meansOf{{1, 0}, {100, 0}, {1, 0}}
	steps := Momentum(1, 0.5, 0.5)
	taken := func(before, after []float64) (bool, error) { return math.Abs(after[0]-before[0]) < 50, nil }
	var at []float64
	var refused []bool
	average, err := Run(t.Context(), means, []float64{0, 0}, RunConfig{Rounds: 3, Steps: steps, Check: taken, After: func(p Progress) error {
		at, refused = append(at, p.Params[0]), append(refused, p.Refused)
		return nil
	}})
	// The third step is −1 without a moment. With it the step would be −51.5.
	if err != nil || !slices.Equal(at, []float64{-1, -1, -2}) || !slices.Equal(refused, []bool{false, true, false}) {
		t.Errorf("at %g, refused %v, %v", at, refused, err)
	}
	if want := (0.5*-1 + -2) / 1.5; math.Abs(average[0]-want) > 1e-12 {
		t.Errorf("average %g, want %g", average[0], want)
	}
	// Where the first step is refused, the first model is the average.
	average, err = Run(t.Context(), meansOf{{100, 0}}, []float64{3, 4}, RunConfig{Rounds: 1, Steps: steps, Check: taken})
	if err != nil || !slices.Equal(average, []float64{3, 4}) {
		t.Errorf("average %g, %v", average, err)
	}
	failed := errors.New("failed")
	if _, err = Run(t.Context(), means, []float64{0, 0}, RunConfig{Rounds: 1, Steps: steps, Check: func(_, _ []float64) (bool, error) { return true, failed }}); !errors.Is(err, failed) {
		t.Errorf("%v, want the check's error", err)
	}
}

// A step leaves out what an alarm names, beside the coordinates that are proved. Progress has both apart.
func TestAStepLeavesOutWhatAnAlarmNames(t *testing.T) {
	lied := roundsFunc(func() (*fl.Estimate, error) {
		e := fl.NewEstimate(fl.Round{}, fl.Guarantee{}, 5, fl.Series{Value: []float64{1, 200, 3}})
		e.Suspects = []int{1}
		return e, nil
	})
	start := []float64{0, 7, 0}
	got, err := Run(t.Context(), lied, start, RunConfig{
		Rounds: 1, Steps: Momentum(1, 0, 0),
		Suspects: func(_ context.Context, params []float64, e *fl.Estimate) ([]int, error) {
			if !slices.Equal(params, start) || e.Mean().Value[1] != 200 {
				t.Errorf("the alarm sees %v and %v", params, e.Mean().Value)
			}
			return []int{2}, nil
		},
		After: func(p Progress) error {
			if !slices.Equal(p.Suspects, []int{2}) || !slices.Equal(p.Estimate.Suspects, []int{1}) {
				t.Errorf("suspects %v and %v", p.Suspects, p.Estimate.Suspects)
			}
			return nil
		},
	})
	if err != nil || !slices.Equal(got, []float64{-1, 7, 0}) {
		t.Errorf("%v, %v", got, err)
	}
	broken := errors.New("broken")
	_, err = Run(t.Context(), lied, start, RunConfig{Rounds: 1, Steps: Momentum(1, 0, 0), Suspects: func(context.Context, []float64, *fl.Estimate) ([]int, error) { return nil, broken }})
	if !errors.Is(err, broken) {
		t.Errorf("%v, want the alarm's error", err)
	}
}
