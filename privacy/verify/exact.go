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
	"github.com/hushgrad/hushgrad/internal/exact"
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

// infeasible says why the exact method cannot be used.
type infeasible struct{ why string }

func (e *infeasible) Error() string { return e.why }

// enumeration is the exact method at work.
type enumeration struct {
	mechanism Enumerable
	inputs    []fl.Ternary
	limit     int64
	sequences atomic.Int64
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
	first := &enumeration{mechanism: e.mechanism, inputs: e.inputs, limit: e.limit / int64(len(e.inputs)*c.Seeds)}
	var empty *emptyChoice
	if _, err := first.law(ctx, e.inputs[0], seeds[0]); err != nil && !errors.As(err, &empty) {
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
	c.report.note("the result holds for the seeds tried, a sample of the hash functions that occur")
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

// feasible applies the rule: an Enumerable mechanism that promises pure local
// privacy, and inputs × seeds within the limit.
func (c *check) feasible() (*enumeration, error) {
	m, ok := c.mechanism.(Enumerable)
	switch {
	case !ok:
		return nil, &infeasible{"the mechanism does not let its choices be enumerated"}
	case c.promise.Trust != fl.Local || c.promise.Delta > 0:
		return nil, &infeasible{"only local privacy with δ = 0 can be enumerated"}
	}
	sparsity, err := c.round.Params.Int(paramSparsity)
	if err != nil || sparsity < 1 || sparsity > c.round.Dim {
		return nil, &infeasible{"the round has no sparsity in [1, dim]"}
	}
	most := c.Limit / c.Seeds
	if n := countInputs(c.round.Dim, sparsity, most); n > most {
		return nil, &infeasible{fmt.Sprintf("more than %d inputs x %d seeds exceed the limit of %d", most, c.Seeds, c.Limit)}
	}
	return &enumeration{mechanism: m, inputs: allInputs(c.round.Dim, sparsity), limit: int64(c.Limit)}, nil
}

// judge compares the worst ratio with e^ε, rounded down.
func (c *check) judge(r seedResult, inputs []fl.Ternary) {
	promised := c.promise.Epsilon
	c.report.Worst = &Worst{
		Input: show(inputs[r.input]), Other: show(inputs[r.other]), Seed: &r.seed,
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

// show prints a ternary vector as its signed indices. Those from dim on are dummies.
func show(x fl.Ternary) string {
	text := make([]string, len(x.Index))
	for i, j := range x.Index {
		text[i] = fmt.Sprintf("%+d", int64(j))
		if x.Sign[i] < 0 {
			text[i] = fmt.Sprintf("-%d", j)
		}
	}
	return fmt.Sprint(text)
}
