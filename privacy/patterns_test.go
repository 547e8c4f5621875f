package privacy

import (
	"math/big"
	"math/rand/v2"
	"slices"
)

// randomizer lists the slot weights that inputs can have, scaled to integers that add
// up to total. Slots come in blocks (CoCo: the two halves of a pair; two hashes: the slots
// of each) and the list is closed under permuting blocks and slots within them.
type randomizer struct {
	patterns [][]int64
	total    int64
	block    int // slots per block; 0 if the list has no such symmetry
}

// collisionPatterns returns the patterns of Collision (Wang et al., Definition 5) for
// rational e: the s items take any slots, so every hash and every conflict occurs.
func collisionPatterns(e *big.Rat, sparsity, slots int) randomizer {
	omega := omegaOf(e, sparsity, slots)
	var all [][]*big.Rat
	for _, marks := range tuples(slots, sparsity) {
		slices.Sort(marks)
		marks = slices.Compact(marks)
		other := ratio(new(big.Rat).Sub(omega, times(e, len(marks))), slots-len(marks))
		weights := slices.Repeat([]*big.Rat{other}, slots)
		for _, z := range marks {
			weights[z] = e
		}
		all = append(all, weights)
	}
	return scaled(all, omega, slots)
}

// cocoPatterns returns the patterns of CoCo (Wang et al., Algorithm 1): the s items take
// any pair and half, in every order, the later overwriting the earlier; weights are
// averaged over the order. Items of opposite sign are those on opposite halves.
func cocoPatterns(e *big.Rat, sparsity, slots int) randomizer {
	omega := omegaOf(e, sparsity, slots)
	orders := permutations(sparsity)
	var all [][]*big.Rat
	for _, marks := range tuples(slots, sparsity) { // slot 2·pair + half
		weights := make([]*big.Rat, slots)
		for z := range weights {
			weights[z] = new(big.Rat)
		}
		for _, order := range orders {
			marked := map[int]int{}
			for _, i := range order {
				marked[marks[i]/2] = marks[i]
			}
			p := len(marked)
			other := new(big.Rat)
			if slots > 2*p {
				other = ratio(new(big.Rat).Sub(omega, times(new(big.Rat).Add(e, big.NewRat(1, 1)), p)), slots-2*p)
			}
			for z := range weights {
				w := other
				if mark, ok := marked[z/2]; ok && mark == z {
					w = e
				} else if ok {
					w = big.NewRat(1, 1)
				}
				weights[z].Add(weights[z], ratio(w, len(orders)))
			}
		}
		all = append(all, weights)
	}
	return scaled(all, omega, 2)
}

// sketchPatterns returns the patterns of the sign sketch: the majority of the signs is either
// bit, or a tie that a fair coin breaks. It is the case s = 1, t = 2.
func sketchPatterns(e *big.Rat, sparsity, slots int) randomizer {
	one := big.NewRat(1, 1)
	tie := ratio(new(big.Rat).Add(e, one), 2)
	return scaled([][]*big.Rat{{e, one}, {one, e}, {tie, tie}}, omegaOf(e, sparsity, slots), 2)
}

// randomPatterns returns a randomizer of the given numbers of inputs and outputs with random
// weights, and e^ε for its exact ε.
func randomPatterns(rng *rand.Rand, inputs, outputs int) (randomizer, *big.Rat) {
	r := randomizer{total: 12}
	for range inputs {
		pattern := slices.Repeat([]int64{1}, outputs)
		for range int(r.total) - outputs {
			pattern[rng.IntN(outputs)]++
		}
		r.patterns = append(r.patterns, pattern)
	}
	e := big.NewRat(1, 1)
	for z := range outputs {
		for _, v := range r.patterns {
			for _, w := range r.patterns {
				if odds := big.NewRat(v[z], w[z]); odds.Cmp(e) > 0 {
					e = odds
				}
			}
		}
	}
	return r, e
}

// twoHashes returns the patterns of r when every client first picks one of two hashes at
// random and sends it along: a report is one of 2t symbols.
func twoHashes(r randomizer) randomizer {
	out := randomizer{total: 2 * r.total, block: len(r.patterns[0])}
	for _, v := range r.patterns {
		for _, w := range r.patterns {
			out.patterns = append(out.patterns, slices.Concat(v, w))
		}
	}
	return out
}

func omegaOf(e *big.Rat, sparsity, slots int) *big.Rat {
	return new(big.Rat).Add(times(e, sparsity), big.NewRat(int64(slots-sparsity), 1))
}

func times(x *big.Rat, n int) *big.Rat { return new(big.Rat).Mul(x, big.NewRat(int64(n), 1)) }

func ratio(x *big.Rat, n int) *big.Rat { return new(big.Rat).Mul(x, big.NewRat(1, int64(n))) }

// scaled brings all weights to a common denominator and drops repeated patterns.
func scaled(all [][]*big.Rat, total *big.Rat, block int) randomizer {
	common := new(big.Int).Set(total.Denom())
	for _, weights := range all {
		for _, w := range weights {
			gcd := new(big.Int).GCD(nil, nil, common, w.Denom())
			common.Div(common.Mul(common, w.Denom()), gcd)
		}
	}
	integer := func(w *big.Rat) int64 {
		return new(big.Rat).Mul(w, new(big.Rat).SetInt(common)).Num().Int64()
	}
	r := randomizer{total: integer(total), block: block}
	for _, weights := range all {
		pattern := make([]int64, len(weights))
		for z, w := range weights {
			pattern[z] = integer(w)
		}
		r.patterns = append(r.patterns, pattern)
	}
	slices.SortFunc(r.patterns, slices.Compare[[]int64])
	r.patterns = slices.CompactFunc(r.patterns, slices.Equal[[]int64])
	return r
}

// tuples returns all sequences of length k over 0..n-1.
func tuples(n, k int) [][]int {
	if k == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, head := range tuples(n, k-1) {
		for i := range n {
			out = append(out, append(slices.Clone(head), i))
		}
	}
	return out
}

func permutations(n int) [][]int {
	var out [][]int
	for _, p := range tuples(n, n) {
		if q := slices.Sorted(slices.Values(p)); len(slices.Compact(q)) == n {
			out = append(out, p)
		}
	}
	return out
}

// exactBlanket, exactPair and exactClone are the right-hand side of (2), the pair (P_α, Q_α)
// and the clone bound as rational numbers. All are multiples of 1/n times the mean of
// the positive part of a multinomial sum; the first two differ in the third category (see
// TestDeltaAgainstThePair).
func exactBlanket(e, q *big.Rat, sparsity, slots, n int) *big.Rat {
	omega := omegaOf(e, sparsity, slots)
	pairs, middle := min(sparsity, slots-sparsity), max(slots-2*sparsity, 2*sparsity-slots)
	weight := new(big.Rat).Sub(q, big.NewRat(1, 1))
	if slots < 2*sparsity {
		weight.Mul(weight, e)
	}
	alpha := new(big.Rat).Quo(big.NewRat(int64(pairs), 1), omega)
	mid := new(big.Rat).Quo(big.NewRat(int64(middle), 1), omega)
	return positivePart(e, q, alpha, mid, weight, new(big.Rat), n)
}

func exactPair(e, q, alpha *big.Rat, n int) *big.Rat {
	one := big.NewRat(1, 1)
	idle := new(big.Rat).Sub(one, times(alpha, 2))
	kappa := new(big.Rat).Sub(one, new(big.Rat).Mul(alpha, new(big.Rat).Add(e, one)))
	kappa.Quo(kappa, idle).Mul(kappa, new(big.Rat).Sub(q, one))
	return positivePart(e, q, alpha, new(big.Rat), new(big.Rat), kappa, n)
}

// rightAlpha is s/Ω and printedAlpha what Theorem 5 of Wang et al. has in its place.
func rightAlpha(e *big.Rat, sparsity, slots int) *big.Rat {
	return new(big.Rat).Quo(big.NewRat(int64(sparsity), 1), omegaOf(e, sparsity, slots))
}

func printedAlpha(e *big.Rat, sparsity, slots int) *big.Rat {
	return new(big.Rat).Mul(rightAlpha(e, sparsity, slots), new(big.Rat).Sub(e, big.NewRat(1, 1)))
}

func exactClone(e, q *big.Rat, n int) *big.Rat {
	alpha := ratio(new(big.Rat).Inv(e), 2)
	sum := positivePart(e, q, alpha, new(big.Rat), new(big.Rat), new(big.Rat), n)
	sum.Mul(sum, times(e, 2))
	return sum.Quo(sum, new(big.Rat).Add(e, big.NewRat(1, 1)))
}

func positivePart(e, q, alpha, mid, midWeight, restWeight *big.Rat, n int) *big.Rat {
	one := big.NewRat(1, 1)
	rest := new(big.Rat).Sub(one, new(big.Rat).Add(times(alpha, 2), mid))
	favour := new(big.Rat).Sub(e, q)
	against := new(big.Rat).Sub(new(big.Rat).Mul(e, q), one)
	sum := new(big.Rat)
	for a := 0; a <= n; a++ {
		for b := 0; a+b <= n; b++ {
			for r := 0; a+b+r <= n; r++ {
				c := n - a - b - r
				loss := new(big.Rat).Sub(times(favour, a), times(against, b))
				loss.Sub(loss, times(midWeight, r)).Sub(loss, times(restWeight, c))
				if loss.Sign() <= 0 {
					continue
				}
				ways := new(big.Int).MulRange(1, int64(n))
				for i, count := range []int{a, b, r, c} {
					ways.Div(ways, new(big.Int).MulRange(1, int64(count)))
					for range count {
						loss.Mul(loss, []*big.Rat{alpha, alpha, mid, rest}[i])
					}
				}
				sum.Add(sum, loss.Mul(loss, new(big.Rat).SetInt(ways)))
			}
		}
	}
	return ratio(sum, n)
}
