package privacy

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
)

// The bound is proved in the package documentation. Here it is checked on instances so
// small that every case can be listed in exact arithmetic: every pattern that any hash
// can give the victim's two inputs, every data set of the other clients, every output.

// worst returns the largest hockey-stick divergence of order q between shuffled
// outputs of n clients that differ in one input, over all pairs of patterns of the
// victim and all patterns of the others.
func (r randomizer) worst(t *testing.T, n int, q *big.Rat) *big.Rat {
	t.Helper()
	// All sums below are at most max(num, den)·total^n: exact in int64.
	limit := new(big.Int).Exp(big.NewInt(r.total), big.NewInt(int64(n)), nil)
	limit.Mul(limit, new(big.Int).Add(q.Num(), q.Denom()))
	if !limit.IsInt64() {
		t.Fatalf("weights too large for exact int64 arithmetic: %v", limit)
	}
	num, den := q.Num().Int64(), q.Denom().Int64()
	add := histograms(len(r.patterns[0]), n)
	victims := r.victims()
	next := make([]int64, 0, 1<<12)
	var worst int64
	var visit func(level, from int, law []int64)
	visit = func(level, from int, law []int64) {
		if level < n-1 {
			for i := from; i < len(r.patterns); i++ {
				visit(level+1, i, send(nil, law, r.patterns[i], add[level]))
			}
			return
		}
		for _, v := range victims {
			// The law of the histogram is linear in the victim's weights.
			difference := make([]int64, len(v[0]))
			for z := range difference {
				difference[z] = den*v[0][z] - num*v[1][z]
			}
			next = send(next, law, difference, add[level])
			var positive int64
			for _, x := range next {
				positive += max(x, 0)
			}
			worst = max(worst, positive)
		}
	}
	visit(0, 0, []int64{1})
	power := new(big.Int).Exp(big.NewInt(r.total), big.NewInt(int64(n)), nil)
	return new(big.Rat).SetFrac(big.NewInt(worst), power.Mul(power, big.NewInt(den)))
}

// victims returns one pair of patterns for each class of pairs that a permutation of
// blocks and of slots within blocks maps to each other.
func (r randomizer) victims() [][2][]int64 {
	seen := map[string]bool{}
	var out [][2][]int64
	if r.block == 0 {
		for _, v := range r.patterns {
			for _, w := range r.patterns {
				out = append(out, [2][]int64{v, w})
			}
		}
		return out
	}
	for _, v := range r.patterns {
		for _, w := range r.patterns {
			var blocks []string
			for start := 0; start < len(v); start += r.block {
				var slots []string
				for z := start; z < start+r.block; z++ {
					slots = append(slots, fmt.Sprint(v[z], w[z]))
				}
				slices.Sort(slots)
				blocks = append(blocks, fmt.Sprint(slots))
			}
			slices.Sort(blocks)
			if class := fmt.Sprint(blocks); !seen[class] {
				seen[class] = true
				out = append(out, [2][]int64{v, w})
			}
		}
	}
	return out
}

// histograms numbers the multisets of up to n symbols; add[i][h][z] is the number, among
// the multisets of i+1 symbols, of multiset h of i symbols with symbol z added.
func histograms(symbols, n int) [][][]int {
	add := make([][][]int, n)
	level := [][]int{make([]int, symbols)}
	for i := range n {
		number := map[string]int{}
		var above [][]int
		for _, h := range level {
			row := make([]int, symbols)
			for z := range row {
				more := slices.Clone(h)
				more[z]++
				key := fmt.Sprint(more)
				if _, ok := number[key]; !ok {
					number[key] = len(above)
					above = append(above, more)
				}
				row[z] = number[key]
			}
			add[i] = append(add[i], row)
		}
		level = above
	}
	return add
}

// send convolves the law of a histogram with one more report of the given weights,
// reusing dst.
func send(dst, law, weights []int64, add [][]int) []int64 {
	size := 0
	for _, row := range add {
		size = max(size, slices.Max(row)+1)
	}
	dst = slices.Grow(dst[:0], size)[:size]
	clear(dst)
	for h, mass := range law {
		for z, w := range weights {
			dst[add[h][z]] += mass * w
		}
	}
	return dst
}

func rational(t *testing.T, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("not a rational number: %q", s)
	}
	return r
}

// between returns 1 + share·(e − 1).
func between(e, share *big.Rat) *big.Rat {
	q := new(big.Rat).Sub(e, big.NewRat(1, 1))
	return q.Add(q.Mul(q, share), big.NewRat(1, 1))
}

// deltaAround returns Delta with ε rounded up and ε_c rounded down, so that it must not be
// below the exact bound for e and q.
func deltaAround(t *testing.T, e, q *big.Rat, sparsity, slots, n int) float64 {
	t.Helper()
	return mustDelta(t, mustBlanket(t, logUp(e), sparsity, slots), n, logDown(q))
}

func logUp(x *big.Rat) float64 { f, _ := x.Float64(); return math.Nextafter(math.Log(f), 30) }

func logDown(x *big.Rat) float64 {
	f, _ := x.Float64()
	return max(0, math.Nextafter(math.Log(f), -1))
}

// The recorded instances: worst case, pair and blanket to all ten recorded digits.
func TestRecordedTinyInstances(t *testing.T) {
	for _, c := range readGolden(t).Tiny {
		e, q := rational(t, c.E), rational(t, c.Q)
		blanket := exactBlanket(e, q, c.S, c.T, c.N)
		for _, part := range []struct {
			name      string
			got, want *big.Rat
		}{
			{"exact", collisionPatterns(e, c.S, c.T).worst(t, c.N, q), rational(t, c.Exact)},
			{"pair", exactPair(e, q, rightAlpha(e, c.S, c.T), c.N), rational(t, c.Pair)},
			{"blanket", blanket, rational(t, c.Blanket)},
		} {
			if off := new(big.Rat).Sub(part.got, part.want); off.Abs(off).Cmp(big.NewRat(6, 1e11)) > 0 {
				t.Errorf("%+v: %s: got %s, want %s", c, part.name, part.got.FloatString(12), part.want.FloatString(12))
			}
		}
		exact, _ := blanket.Float64()
		if got := deltaAround(t, e, q, c.S, c.T, c.N); got < exact || got > exact*(1+1e-12) {
			t.Errorf("%+v: Delta: got %v, blanket %v", c, got, exact)
		}
	}
}

// Every data set, conflict and sign of tiny instances of Collision and CoCo stays
// below the blanket, for fixed hashes and for a choice of two.
func TestBlanketCoversEveryCase(t *testing.T) {
	three, two, half := big.NewRat(3, 1), big.NewRat(2, 1), big.NewRat(3, 2)
	for _, c := range []struct {
		name               string
		make               func(*big.Rat, int, int) randomizer
		e                  *big.Rat
		sparsity, slots, n int
		slow               bool
	}{
		{"collision", collisionPatterns, three, 1, 2, 6, false},
		{"collision", collisionPatterns, three, 1, 4, 5, false},
		{"collision", collisionPatterns, half, 2, 4, 4, false},
		{"collision", collisionPatterns, three, 2, 5, 3, false},
		{"collision with s < t < 2s", collisionPatterns, three, 2, 3, 5, false},
		{"collision with s < t < 2s", collisionPatterns, two, 3, 4, 4, true},
		{"coco", cocoPatterns, three, 1, 4, 5, false},
		{"coco with t = 2s", cocoPatterns, three, 2, 4, 4, false},
		{"coco", cocoPatterns, two, 2, 6, 3, false},
		{"coco", cocoPatterns, half, 2, 8, 3, true},
		{"sign sketch", sketchPatterns, half, 1, 2, 7, false},
		{"sign sketch", sketchPatterns, three, 1, 2, 7, false},
		{"sign sketch with two hashes", func(e *big.Rat, s, t int) randomizer { return twoHashes(sketchPatterns(e, s, t)) }, three, 1, 2, 4, false},
		{"two hashes", func(e *big.Rat, s, t int) randomizer { return twoHashes(collisionPatterns(e, s, t)) }, three, 1, 3, 3, false},
		{"two hashes", func(e *big.Rat, s, t int) randomizer { return twoHashes(collisionPatterns(e, s, t)) }, two, 2, 3, 3, true},
	} {
		if c.slow && !*Long {
			continue
		}
		r := c.make(c.e, c.sparsity, c.slots)
		for _, share := range []*big.Rat{big.NewRat(0, 1), big.NewRat(1, 5), big.NewRat(1, 2), big.NewRat(3, 4), big.NewRat(9, 10)} {
			q := between(c.e, share)
			exact := r.worst(t, c.n, q)
			blanket := exactBlanket(c.e, q, c.sparsity, c.slots, c.n)
			if exact.Cmp(blanket) > 0 {
				t.Errorf("%s e=%v s=%d t=%d n=%d q=%v: exact %s above the blanket %s", c.name, c.e, c.sparsity, c.slots, c.n, q, exact.FloatString(12), blanket.FloatString(12))
			}
			if exact.Cmp(ratio(blanket, 2)) < 0 && c.sparsity == 1 {
				t.Errorf("%s e=%v s=%d t=%d n=%d q=%v: exact %s, blanket %s: more than a factor of two", c.name, c.e, c.sparsity, c.slots, c.n, q, exact.FloatString(12), blanket.FloatString(12))
			}
			want, _ := blanket.Float64()
			if got := deltaAround(t, c.e, q, c.sparsity, c.slots, c.n); got < want || got > want*(1+1e-11) {
				t.Errorf("%s q=%v: Delta: got %v, blanket %v", c.name, q, got, want)
			}
		}
	}
}
