package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/hushgrad/hushgrad/fl/exact"
)

// askEvery is after how many sequences of choices the context is asked.
const askEvery = 1 << 10

// law is the exact law of an input's report.
func (e *enumeration) law(ctx context.Context, input int, seed uint32) (map[string]*big.Rat, error) {
	made, err := e.report(input, seed)
	if err != nil {
		return nil, err
	}
	var failed error
	guard := &guard{}
	law, err := exact.Enumerate(maxBranches, func(choose Chooser) (string, error) {
		n := e.sequences.Add(1)
		if n%askEvery == 0 {
			if failed = ctx.Err(); failed != nil {
				return "", failed
			}
		}
		if n > e.limit {
			failed = &infeasible{"inputs x seeds x sequences of choices exceed the limit"}
			return "", failed
		}
		var report []byte
		guard.Chooser = choose
		report, failed = made(guard)
		if guard.empty {
			failed = &emptyChoice{e.inputs[input], seed}
		}
		return string(report), failed
	})
	if err != nil && failed == nil {
		return nil, &infeasible{err.Error()}
	}
	return law, err
}

// emptyChoice is a mechanism's fault: real randomness could not make the choice.
type emptyChoice struct {
	input string
	seed  uint32
}

func (e *emptyChoice) Error() string {
	return fmt.Sprintf("seed %d, input %s: a choice has nothing to choose from", e.seed, e.input)
}

// guard notices choices without an outcome. It takes the first one instead.
type guard struct {
	Chooser
	empty bool
}

func (g *guard) Uniform(n uint64) uint64 {
	if n == 0 {
		g.empty = true
		return 0
	}
	return g.Chooser.Uniform(n)
}

func (g *guard) Weighted(weights []uint64) int {
	if !slices.ContainsFunc(weights, func(w uint64) bool { return w > 0 }) {
		g.empty = true
		return 0
	}
	return g.Chooser.Weighted(weights)
}

// maxBranches bounds the outcomes of a single choice.
const maxBranches = 1 << 20

// seedResult is the largest ratio under one hash function.
type seedResult struct {
	seed         uint32
	report       string
	ratio        *big.Rat // nil means infinite
	input, other int
	fault        string
}

func (r seedResult) above(o seedResult) bool {
	return o.ratio != nil && (r.ratio == nil || r.ratio.Cmp(o.ratio) > 0)
}

// extreme is the smallest and the largest probability of a report, and where.
type extreme struct {
	low, high     *big.Rat
	lowAt, highAt int
	seen          int // inputs under which the report is possible
}

// seed compares the laws of all inputs under one hash function.
func (e *enumeration) seed(ctx context.Context, seed uint32) (seedResult, error) {
	result := seedResult{seed: seed, ratio: big.NewRat(1, 1)}
	extremes := map[string]*extreme{}
	one := big.NewRat(1, 1)
	for i, input := range e.inputs {
		if err := ctx.Err(); err != nil {
			return result, err
		}
		law, err := e.law(ctx, i, seed)
		if _, ok := errors.AsType[*emptyChoice](err); ok {
			return seedResult{seed: seed, ratio: one, fault: err.Error()}, nil
		}
		if err != nil {
			return result, err
		}
		sum := new(big.Rat)
		for report, p := range law {
			sum.Add(sum, p)
			v := extremes[report]
			if v == nil {
				v = &extreme{low: p, high: p, lowAt: i, highAt: i}
				extremes[report] = v
			}
			v.seen++
			if p.Cmp(v.low) < 0 {
				v.low, v.lowAt = p, i
			}
			if p.Cmp(v.high) > 0 {
				v.high, v.highAt = p, i
			}
		}
		if sum.Cmp(one) != 0 && result.fault == "" {
			result.fault = fmt.Sprintf("seed %d, input %s: the probabilities sum to %s, must be 1", seed, input, sum.RatString())
		}
	}
	for _, report := range slices.Sorted(maps.Keys(extremes)) {
		v := extremes[report]
		if v.seen < len(e.inputs) {
			result.ratio, result.report, result.input = nil, report, v.highAt
			var err error
			result.other, err = e.without(ctx, report, seed)
			return result, err
		}
		if ratio := new(big.Rat).Quo(v.high, v.low); ratio.Cmp(result.ratio) > 0 || result.report == "" {
			result.ratio, result.report, result.input, result.other = ratio, report, v.highAt, v.lowAt
		}
	}
	return result, nil
}

// without returns an input that never makes the report.
func (e *enumeration) without(ctx context.Context, report string, seed uint32) (int, error) {
	for i := range e.inputs {
		law, err := e.law(ctx, i, seed)
		if err != nil || law[report] == nil {
			return i, err
		}
	}
	return 0, fmt.Errorf("report %x: is it possible or not under seed %d? the mechanism depends on more than its choices", report, seed)
}
