package verify

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
)

// Chooser takes the random decisions of a randomizer. A [rand.Rand] draws them in a
// real round; the verifier tries them all.
type Chooser = exact.Chooser

// paramSparsity is the parameter of a round that holds the number of entries of a vector.
const paramSparsity = "sparsity"

// Enumerable is a local mechanism over ternary vectors whose law can be enumerated.
// Its round has a parameter "sparsity", the number of entries of a vector.
type Enumerable interface {
	fl.Mechanism
	// EncodeTernary draws the seed as the first Uint32 of rng, and is EncodeChoosing
	// with it and with choices drawn from rng.
	EncodeTernary(dst []byte, x fl.Ternary, rng *rand.Rand) ([]byte, error)
	// EncodeChoosing appends the report of x. It depends on nothing but its arguments
	// and the choices. The report starts with the seed, 4 bytes, little-endian.
	EncodeChoosing(dst []byte, x fl.Ternary, seed uint32, choose Chooser) ([]byte, error)
}

// Preparer is a local mechanism over gradients. Once a report's seed is drawn, it makes the report in two steps, of which the
// second one has all choices.
type Preparer interface {
	fl.Mechanism
	// Prepare returns the second step: a function that appends the report and depends on nothing but its choices.
	// The report starts with the seed, 4 bytes, little-endian. Encode draws the seed as the first Uint32 of
	// rng, and appends what that function does with choices drawn from rng.
	Prepare(grad []float64, seed uint32) (func(dst []byte, choose Chooser) []byte, error)
}

// infeasible says why the exact method cannot be used.
type infeasible struct{ why string }

func (e *infeasible) Error() string { return e.why }

// enumeration is the exact method at work.
type enumeration struct {
	domain
	limit     int64
	sequences atomic.Int64
}

// again returns an enumeration of the same domain, with a limit of its own.
func (e *enumeration) again(limit int64) *enumeration {
	return &enumeration{domain: e.domain, limit: limit}
}

// exact tries the seeds until the limited context ends.
func (c *check) exact(ctx, limited context.Context) error {
	e, err := c.feasible()
	if err != nil {
		return err
	}
	seeds := make([]uint32, c.Seeds)
	for i := range seeds {
		seeds[i] = c.Rand.Uint32()
	}
	// The number of sequences of one input shows whether all of them fit the limit.
	first := e.again(e.limit / int64(len(e.inputs)*c.Seeds))
	var empty *emptyChoice
	if _, err := first.law(ctx, 0, seeds[0]); err != nil && !errors.As(err, &empty) {
		return err
	}
	found, err := c.trySeeds(ctx, limited, e, seeds)
	if err != nil {
		return err
	}
	c.report.Method, c.report.Inputs, c.report.Seeds = Exact, len(e.inputs), len(found)
	c.report.Sequences = e.sequences.Load()
	if len(found) < len(seeds) {
		c.report.note("the time limit of %s ended the check after %d of %d seeds", c.Time, len(found), len(seeds))
	}
	if len(found) == 0 {
		c.report.Undecided = true
		return nil
	}
	worst := 0
	for i, f := range found {
		if f.fault != "" && len(c.report.Faults) < maxFaults {
			c.report.fault("%s", f.fault)
		}
		if f.above(found[worst]) {
			worst = i
		}
	}
	// Without a common support no report is impossible, and faulty code may not run.
	if len(c.report.Faults) == 0 && found[worst].ratio != nil {
		if err := c.replay(ctx, e); err != nil {
			return err
		}
	}
	c.report.note("%s", e.sampled)
	c.judge(found[worst], e.inputs)
	return nil
}

// trySeeds returns the results of the seeds that were done when the limited context ended.
func (c *check) trySeeds(ctx, limited context.Context, e *enumeration, seeds []uint32) ([]seedResult, error) {
	found, done := make([]seedResult, len(seeds)), make([]bool, len(seeds))
	c.Progress.Grow(len(seeds))
	group, groupCtx := errgroup.WithContext(limited)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, seed := range seeds {
		group.Go(func() (err error) {
			defer c.Progress.Step()
			if found[i], err = e.seed(groupCtx, seed); timeIsUp(ctx, limited) && err != nil {
				return nil
			}
			done[i] = err == nil
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	tried := found[:0]
	for i, f := range found {
		if done[i] {
			tried = append(tried, f)
		}
	}
	return tried, nil
}

// timeIsUp says whether the limit of time ended, and nothing else.
func timeIsUp(ctx, limited context.Context) bool { return limited.Err() != nil && ctx.Err() == nil }

// maxFaults bounds how many seeds are reported with a fault.
const maxFaults = 5

// feasible applies the rule: a mechanism whose choices can be taken from outside and that promises pure local
// privacy, and inputs × seeds within the limit.
func (c *check) feasible() (*enumeration, error) {
	if c.promise.Trust != fl.Local || c.promise.Delta > 0 {
		return nil, &infeasible{"only local privacy with δ = 0 can be enumerated"}
	}
	most := c.Limit / c.Seeds
	var d domain
	switch m := c.mechanism.(type) {
	case Enumerable:
		sparsity, err := c.round.Params.Int(paramSparsity)
		if err != nil || sparsity < 1 || sparsity > c.round.Dim {
			return nil, &infeasible{"the round has no sparsity in [1, dim]"}
		}
		if countInputs(c.round.Dim, sparsity, most) <= most {
			d = ternaryDomain(m, allInputs(c.round.Dim, sparsity))
		}
	case Preparer:
		if inputs := withShort(gradients(c.round), c.round.Scale); len(inputs) <= most {
			d = gradientDomain(m, inputs)
		}
	default:
		return nil, &infeasible{"the mechanism does not let its choices be enumerated"}
	}
	if len(d.inputs) == 0 {
		return nil, &infeasible{fmt.Sprintf("more than %d inputs x %d seeds exceed the limit of %d", most, c.Seeds, c.Limit)}
	}
	return &enumeration{domain: d, limit: int64(c.Limit)}, nil
}

// judge compares the worst ratio with e^ε, rounded down.
func (c *check) judge(r seedResult, inputs []string) {
	promised := c.promise.Epsilon
	c.report.Worst = &Worst{
		Input: inputs[r.input], Other: inputs[r.other], Seed: &r.seed,
		Report: hex.EncodeToString([]byte(r.report)), Ratio: "Infinity",
	}
	if r.ratio == nil {
		c.report.EpsilonFound = Epsilon(math.Inf(1))
		return
	}
	c.report.Worst.Ratio = r.ratio.RatString()
	bound := new(big.Rat).SetFrac(exact.LowerExp(promised), new(big.Int).Lsh(big.NewInt(1), 160))
	c.report.Holds = r.ratio.Cmp(bound) <= 0
	ratio, _ := r.ratio.Float64()
	// The logarithm is rounded: the exact comparison says on which side of ε it is.
	found := math.Nextafter(math.Log(math.Nextafter(ratio, math.Inf(1))), math.Inf(1))
	if c.report.Holds {
		found = min(found, promised)
	} else {
		found = max(found, math.Nextafter(promised, math.Inf(1)))
	}
	c.report.EpsilonFound = Epsilon(found)
}
