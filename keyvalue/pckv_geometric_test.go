package keyvalue

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl/exact"
)

func power(q *big.Rat, n uint64) *big.Rat {
	p := big.NewRat(1, 1)
	for range n {
		p.Mul(p, q)
	}
	return p
}

// The two building blocks have exactly the stated laws: a run of n failures has
// probability (1−q)^n, and the proposal that is accepted at place i has probability
// (1−q)^i/block, in proportion to the first success's.
func TestGeometricBlocksAreExact(t *testing.T) {
	for _, q := range []struct{ hits, total uint64 }{{1, 2}, {3, 10}, {2, 16}, {7, 50}} {
		g := newGeometric(q.hits, q.total)
		miss := big.NewRat(int64(q.total-q.hits), int64(q.total))
		for n := range g.block + 1 {
			law, err := exact.Enumerate(64, func(choose exact.Chooser) (bool, error) { return g.allFail(n, choose), nil })
			if err != nil {
				t.Fatal(err)
			}
			if want := power(miss, n); law[true] == nil || law[true].Cmp(want) != 0 {
				t.Errorf("%d/%d: %d failures with probability %v, want %v", q.hits, q.total, n, law[true], want)
			}
		}
		type proposal struct {
			place uint64
			ok    bool
		}
		law, err := exact.Enumerate(64, func(choose exact.Chooser) (p proposal, err error) {
			p.place, p.ok = g.propose(choose)
			return p, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range g.block {
			want := power(miss, i)
			want.Quo(want, new(big.Rat).SetUint64(g.block))
			if p := law[proposal{i, true}]; p == nil || p.Cmp(want) != 0 {
				t.Errorf("%d/%d: place %d with probability %v, want %v", q.hits, q.total, i, p, want)
			}
		}
	}
}

// The whole gap has the tail (1−q)^g: 40 binomial counts of 40000 draws are within 5.5
// standard deviations. One is beyond with probability 2e-6.
func TestGapsAreGeometric(t *testing.T) {
	const n = 40_000
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for _, q := range []struct{ hits, total uint64 }{{1, 2}, {3, 10}, {1 << 40, 1<<44 + 12345}, {1, 1 << 29}} {
		g := newGeometric(q.hits, q.total)
		logMiss := math.Log1p(-float64(q.hits) / float64(q.total))
		var counts [10]int
		at := func(i int) uint64 { return 1 + uint64(float64(i)*0.3/-logMiss) }
		for range n {
			gap := g.gap(1<<40, exact.Rand{Rand: rng})
			for i := range counts {
				if gap >= at(i) {
					counts[i]++
				}
			}
		}
		for i, c := range counts {
			p := math.Exp(float64(at(i)) * logMiss)
			if z := (float64(c) - n*p) / math.Sqrt(n*p*(1-p)); math.Abs(z) > 5.5 {
				t.Errorf("%d/%d: %d of %d gaps are at least %d, want %.1f (%.1f standard deviations)", q.hits, q.total, c, n, at(i), n*p, z)
			}
		}
	}
}

// A limit cuts the gap off and changes nothing below it: 3 counts of 40000 draws
// within 5.5 standard deviations, false positives below 1e-6.
func TestGapsStopAtTheLimit(t *testing.T) {
	const n = 40_000
	rng := rand.New(rand.NewChaCha8([32]byte{8}))
	g := newGeometric(3, 10)
	for _, limit := range []uint64{1, 4, 7} {
		beyond := 0
		for range n {
			if g.gap(limit, exact.Rand{Rand: rng}) >= limit {
				beyond++
			}
		}
		p := math.Pow(0.7, float64(limit))
		if z := (float64(beyond) - n*p) / math.Sqrt(n*p*(1-p)); math.Abs(z) > 5.5 {
			t.Errorf("limit %d: reached by %d of %d, want %.1f", limit, beyond, n, n*p)
		}
	}
	if got := g.gap(0, nil); got != 0 {
		t.Errorf("limit 0: got %d", got)
	}
}
