package probe

import (
	"context"
	"fmt"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	training "github.com/hushgrad/hushgrad/plan"
	compose "github.com/hushgrad/hushgrad/privacy"
)

// planning plans a run of the demo at a central ε of 1.
func planning(ctx context.Context) (map[string]float64, error) {
	t := training.Training{Dim: 650, Clients: 60000, Rounds: 30, Epsilon: 1, Delta: 1e-6, L1: 15.354, L2: 3.48}
	began := time.Now()
	var err error
	switch t := any(t).(type) {
	case interface {
		Schedule(context.Context) (*training.Schedule, error)
	}:
		_, err = t.Schedule(ctx)
	case interface {
		Schedule() (*training.Schedule, error)
	}:
		_, err = t.Schedule()
	default:
		err = fmt.Errorf("probe: %w", fl.Invalid("Schedule", t, "must have a known form"))
	}
	return map[string]float64{PlanTime: time.Since(began).Seconds()}, err
}

// losses builds the loss of one mechanism and bounds the ε of 1000.
func losses(ctx context.Context) (map[string]float64, error) {
	out := map[string]float64{}
	for name, build := range map[string]func() (*compose.Distribution, error){
		Gaussian: func() (*compose.Distribution, error) {
			switch f := any(compose.Gaussian).(type) {
			case func(context.Context, float64, compose.Options) (*compose.Distribution, error):
				return f(ctx, 1.5, compose.Options{})
			case func(float64, compose.Options) (*compose.Distribution, error):
				return f(1.5, compose.Options{})
			}
			return nil, fmt.Errorf("probe: %w", fl.Invalid("Gaussian", "another one", "must have a known form"))
		},
		Shuffled: func() (*compose.Distribution, error) {
			switch f := any(compose.Shuffled).(type) {
			case func(context.Context, float64, int, int, int, compose.Options) (*compose.Distribution, error):
				return f(ctx, 5, 40, 5975, 2000, compose.Options{})
			case func(float64, int, int, int, compose.Options) (*compose.Distribution, error):
				return f(5, 40, 5975, 2000, compose.Options{})
			}
			return nil, fmt.Errorf("probe: %w", fl.Invalid("Shuffled", "another one", "must have a known form"))
		},
	} {
		began := time.Now()
		one, err := build()
		if err != nil {
			return nil, err
		}
		all, err := one.Compose(1000)
		if err != nil {
			return nil, err
		}
		const delta = 1e-6
		switch d := any(all).(type) {
		case interface {
			Epsilon(context.Context, float64) (compose.Bounds, error)
		}:
			_, err = d.Epsilon(ctx, delta)
		case interface {
			Epsilon(float64) (compose.Bounds, error)
		}:
			_, err = d.Epsilon(delta)
		default:
			err = fmt.Errorf("probe: %w", fl.Invalid("Epsilon", "another one", "must have a known form"))
		}
		if err != nil {
			return nil, err
		}
		out[name] = time.Since(began).Seconds()
	}
	return out, nil
}
