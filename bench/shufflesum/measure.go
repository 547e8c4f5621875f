package shufflesum

import (
	"context"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// The settings of the paper's experiments.
const (
	paperDelta   = 1e-12
	paperBeta    = 0.1
	paperRepeats = 20
)

// sumGroups is how often the paper's 20 repeats are done where they are quick. The
// mean of 12 Laplace errors, which the paper prints, has a spread of about 20 %.
const sumGroups = 10

// sumRepeats returns the repeats of an experiment on sums, and the note about them.
func sumRepeats(env experiment.Env) (repeats, groups int, note string) {
	repeats, groups = env.RepeatsOr(paperRepeats), sumGroups
	if env.Quick {
		groups = 4
	}
	return repeats, groups, fmt.Sprintf("%d times %d repeats, the smallest and largest fifth dropped", groups, repeats)
}

// intervals says what the error bars of all figures show.
const intervals = "Error bars, and the columns that end in low and high: the 95 % interval over the repeats, which share one draw of the data. It is Student's for the mean of the groups of repeats, and Tukey and McLaughlin's for one trimmed mean."

// trimmed averages repeats as the paper does: of 20 it drops the 4 largest and the
// 4 smallest, and as large a part of any other number.
func trimmed(errors []float64) (experiment.Interval, error) {
	drop := len(errors) / 5
	return experiment.TrimmedInterval(errors, drop, drop)
}

// trimmedGroups averages trimmed means of groups of repeats.
func trimmedGroups(errors []float64, size int) (experiment.Interval, error) {
	if size == len(errors) {
		return trimmed(errors)
	}
	var means []float64
	for group := range slices.Chunk(errors, size) {
		mean, err := trimmed(group)
		if err != nil {
			return experiment.Interval{}, err
		}
		means = append(means, mean.Value)
	}
	return experiment.MeanInterval(means), nil
}

// repeat measures n times, in parallel, and counts the steps.
func repeat(ctx context.Context, env experiment.Env, n int, measure func(i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			defer env.Progress.Step()
			return measure(i)
		})
	}
	return group.Wait()
}

// outcome is what one mechanism did in one setting.
type outcome struct {
	err      experiment.Interval // absolute for sums of integers, in percent for vectors
	messages experiment.Interval // per client
	bits     float64             // per client
}

// relative returns the error of a sum as a share of the truth, in percent.
func (o outcome) relative(truth float64) experiment.Interval {
	scale := 100 / truth
	return experiment.Interval{Value: scale * o.err.Value, Low: scale * o.err.Low, High: scale * o.err.High}
}

// run measures one mechanism on one data set against the true sum, in groups of repeats. key
// makes the randomness of the setting its own, and name is the name of the part in the checkpoint.
func run(ctx context.Context, env experiment.Env, name string, s summer, p population, truth float64, repeats, groups int, key ...uint64) (outcome, error) {
	clients, n := float64(p.clients()), repeats*groups
	numbers, err := env.Checkpoint.Do(name, func() ([]float64, error) {
		numbers := make([]float64, 2*n)
		err := repeat(ctx, env, n, func(i int) error {
			sum, sent, err := s.simulate(p, experiment.Stream(env.Seed, append(slices.Clone(key), uint64(i))...))
			numbers[i], numbers[n+i] = math.Abs(sum-truth), float64(sent)/clients
			return err
		})
		return numbers, err
	})
	if err != nil {
		return outcome{}, err
	}
	if len(numbers) != 2*n {
		return outcome{}, fmt.Errorf("the checkpoint has %d numbers for %s, want %d", len(numbers), name, 2*n)
	}
	o := outcome{}
	if o.err, err = trimmedGroups(numbers[:n], repeats); err != nil {
		return outcome{}, err
	}
	if o.messages, err = trimmed(numbers[n:]); err != nil {
		return outcome{}, err
	}
	o.bits = o.messages.Value * s.bitsPerMessage()
	return o, nil
}
