package shufflesum

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
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
		repeats, groups = env.RepeatsOr(5), 1
	}
	return repeats, groups, fmt.Sprintf("%d times %d repeats, the smallest and largest fifth dropped", groups, repeats)
}

// intervals says what the error bars of all figures show.
const intervals = "Error bars, error_percent_low and error_percent_high: the 95 % interval over the repeats, which share one draw of the data. It is Student's for the mean of the groups of repeats, and that of Tukey and McLaughlin for one trimmed mean."

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

// summer is a protocol for sums of integers.
type summer interface {
	Cost() hdsum.Cost
	simulate(inputs []int64, rng *rand.Rand) (sum float64, messages int64, err error)
}

type baseSum struct{ *hdsum.BaseSum }

func (s baseSum) simulate(inputs []int64, rng *rand.Rand) (float64, int64, error) {
	return s.Simulate(inputs, rng)
}

type sumDP struct{ *hdsum.SumDP }

func (s sumDP) simulate(inputs []int64, rng *rand.Rand) (float64, int64, error) {
	e, messages, err := s.Simulate(inputs, rng)
	if err != nil {
		return 0, 0, err
	}
	return e.Value, messages, nil
}

// The mechanisms that are compared, in the order of the paper's tables.
var sumNames = []string{"SumDP", "GKMPS", "BBGN"}

// newSummer returns a mechanism by name.
func newSummer(name string, n int, bound int64, epsilon float64, relation fl.Relation) (summer, error) {
	c := hdsum.Config{Clients: n, Epsilon: epsilon, Delta: paperDelta, Relation: relation}
	switch name {
	case "SumDP":
		s, err := hdsum.NewSumDP(c, bound, paperBeta)
		return sumDP{s}, err
	case "GKMPS":
		c.Base = hdsum.GKMPS
	case "BBGN":
		c.Base = hdsum.BBGN
	}
	s, err := hdsum.NewBaseSum(c, bound)
	return baseSum{s}, err
}

// outcome is what one mechanism did in one setting.
type outcome struct {
	relativeError experiment.Interval // percent
	messages      experiment.Interval // per client
	bits          float64             // per client
}

// run measures one mechanism on one data set, in groups of repeats. key makes the
// randomness of the setting its own.
func run(ctx context.Context, env experiment.Env, s summer, inputs []int64, repeats, groups int, key ...uint64) (outcome, error) {
	truth := total(inputs)
	errors, messages := make([]float64, repeats*groups), make([]float64, repeats*groups)
	err := repeat(ctx, env, repeats*groups, func(i int) error {
		sum, sent, err := s.simulate(inputs, experiment.Stream(env.Seed, append(key, uint64(i))...))
		errors[i] = 100 * math.Abs(sum-truth) / truth
		messages[i] = float64(sent) / float64(len(inputs))
		return err
	})
	if err != nil {
		return outcome{}, err
	}
	o := outcome{}
	if o.relativeError, err = trimmedGroups(errors, repeats); err != nil {
		return outcome{}, err
	}
	if o.messages, err = trimmed(messages); err != nil {
		return outcome{}, err
	}
	cost := s.Cost()
	o.bits = o.messages.Value * cost.Bits / cost.Messages
	return o, nil
}
