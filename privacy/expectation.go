package privacy

import (
	"math"

	"github.com/hushgrad/hushgrad/internal/binomial"
)

// tableBudget bounds the entries of the shortfall tables computed for one Delta, and
// coarseBudget for one of a coarse bound.
const (
	tableBudget  = 3_000_000
	coarseBudget = 30_000
)

// positivePart returns an upper bound on E[S_+], S the sum of the n losses, in the unit
// of losses.
//
// Write K = A + B. Given K = k the count A is Binomial(k, ½) and independent of
// R ~ Binomial(n−k, ρ), and with D = R − (n−k)ρ
//
//	S = x(A) − c·D,   x(a) = width·(a − k/2) − drift(k),   c = loss of a neutral message,
//	drift(k) = excess·(½(e^ε + 1)·k + m·ρ·(n−k)).
//
// So E[S_+ | k] = Σ_a P[A = a]·E[(x(a) − c·D)_+]. A table of E[(y − R)_+] serves the a
// for which x(a)/c lies in the range of D; above it the positive part is the
// identity and the rest of the sum is a tail of A in closed form; below it is zero.
//
// One table serves a block of consecutive k, also one that was made for a smaller first k. D is a
// sum of n−k independent centred terms, so E φ(D) for convex φ grows with the number of terms: the
// table for the first k of a block bounds all of them from above. The growth per term is at most a factor
// e^{blockCost}. Up to n of about 10^5 each k has its own table; beyond, blockLength
// keeps blocks short where the weight is.
//
// What is added so that the result is an upper bound:
//   - chernoff·4·2^-50 for the values of K above and below the window and of R below the
//     table, each of conditional probability at most 2^-50 under P_θ (the last up to
//     √e times that, for the number of terms within a block);
//   - n·e^-500 for the values of A beyond the Hoeffding limit in given;
//   - drift is lowered by a multiple of 2^-49 of the terms it is made of, more than the
//     rounding of drift, of x and of the position of x in the table;
//   - the sum is raised by its possible relative error (see roundings): at δ >= 10^-15 less
//     than 10^-12 for n <= 60, 2·10^-11 at n = 10^6 and 5·10^-10 at n = 10^9.
func (b *bound) positivePart(l losses, t tilt, n int, kept *tables) float64 {
	cut := binomial.LogTail + math.Log(t.some)
	first := max(binomial.LowerQuantile(n, t.paired, t.unpaired, cut), 1) // K = 0 gives S <= 0
	last := max(binomial.UpperQuantile(n, t.paired, t.unpaired, cut), first)
	weights := make([]float64, last-first+1)
	binomial.Row(weights, first, n, b.paired, b.unpaired)

	var tail coinTail
	var sum float64
	work, widest := 0.0, 0
	var asked *shortfall // the last table that block was asked about, and its answer
	var length int
	block := func(table *shortfall) int {
		if work == 0 {
			work = float64(len(table.values)) / float64(kept.budget)
		}
		if table != asked {
			asked, length = table, b.blockLength(l, t, n, table.start, last-first+1, work)
		}
		return length
	}
	for k := first; k <= last; {
		table := kept.at(b, t, n, k, block)
		widest = max(widest, len(table.values))
		for end := max(k+1, table.start+block(table)); k < end && k <= last; k++ {
			drift := b.drift(l, n, k) - 0x1p-49*l.neutral*b.neutral*float64(n-table.start)
			sum += weights[k-first] * given(l, table, &tail, k, drift)
		}
	}

	return sum*(1+roundings(t, n, len(weights), widest)*0x1p-53) + t.chernoff*4*binomial.TailMass + float64(n)*math.Exp(-500)
}

// roundings bounds the relative error of the sum of positive terms in positivePart, in units
// of 2^-53. Outcomes that are not cut have probability e^-exponent or more.
func roundings(t tilt, n, values, entries int) float64 {
	exponent := 50 - math.Log(t.chernoff*t.theta)
	// Three recurrences of 64 steps between anchors, with four roundings a step, one of them
	// (the tail of A) with errors at most doubled on the way, and all else.
	units := 4096.0
	// Running sums of positive terms, one over k and two along a table.
	units += float64(values) + 2*float64(entries)
	// The probabilities paired and neutral are off by up to 2^-51 of themselves, and the
	// mass function moves by that times its distance from the mean, √(n·exponent/2).
	units += 12 * math.Sqrt(float64(n)*exponent)
	// Anchors: at most 4 units per unit of the exponent, see binomial.go.
	return units + 16*exponent
}

// drift returns drift(k) of positivePart, rounded down: it is a sum of two products of
// positive factors, so its relative error is below 2^-50.
func (b *bound) drift(l losses, n, k int) float64 {
	drift := l.excess * (0.5*(b.gain+2)*float64(k) + b.neutralWeight*b.neutral*float64(n-k))
	return drift * (1 - 0x1p-49)
}

// blockLength returns for how many values of k, from start on, one table is kept. values
// is the number of k in all and work the share of the budget that one table takes.
//
// If there is a table for each k, or blocks of total cost 10^-13, that is taken. Otherwise
// the error Σ weight·length is least for a given number of tables Σ 1/length when
// length is proportional to 1/√weight, the weight being k's under P_θ; there are
// then 2√π < 4 standard deviations' worth of tables over the shortest length. Below the
// mean a block covers at most an eighth of the way to it, since weights grow along
// it. No block is so long that the tilted price of the cut tails doubles.
func (b *bound) blockLength(l losses, t tilt, n, start, values int, work float64) int {
	step := t.theta * l.neutral
	// log E[e^{−θc(ξ−ρ)}] for one Bernoulli(ρ) term ξ.
	blockCost := step*b.neutral + math.Log1p(b.neutral*math.Expm1(-step))
	if blockCost <= 0 {
		return values
	}
	length := 1.0
	if float64(values)*work > 1 {
		mean := float64(n) * t.paired
		shortest := math.Max(1, 4*math.Sqrt(mean*t.unpaired)*work)
		length = shortest * math.Exp(-binomial.LogChernoff(start, n, t.paired, t.unpaired)/2)
		if toMean := mean - float64(start); toMean > 0 {
			length = math.Max(shortest, math.Min(length, toMean/8))
		}
	}
	length = math.Min(math.Max(length, 1e-13/blockCost), 0.5/blockCost)
	return int(math.Max(1, math.Min(length, float64(values))))
}

// given returns E[S_+ | K = k], k >= 1.
func given(l losses, table *shortfall, tail *coinTail, k int, drift float64) float64 {
	centre := float64(k) / 2
	// From threshold on x(a)/c is above the table, or P[A >= a] <= e^-500 by Hoeffding.
	certain := math.Ceil(centre + (drift+l.neutral*table.top)/l.width)
	remote := math.Ceil(centre + math.Sqrt(250*float64(k)))
	threshold := int(math.Min(math.Min(certain, remote), float64(k+1)))

	tail.moveTo(k, threshold)
	var sum float64
	if certain <= remote {
		x := l.width*(float64(threshold)-centre) - drift
		sum = l.width*tail.excess + (x+l.neutral*table.spill)*tail.mass
	}
	if l.neutral == 0 {
		return sum
	}
	point := tail.point
	for a := threshold - 1; a >= 0; a-- {
		y := (l.width*(float64(a)-centre)-drift)/l.neutral - table.base
		if y <= 0 {
			break
		}
		if a == k {
			point = math.Ldexp(1, -k)
		} else {
			point *= float64(a+1) / float64(k-a)
		}
		sum += point * l.neutral * table.at(y)
	}
	return sum
}
