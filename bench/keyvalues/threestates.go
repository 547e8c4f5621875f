package keyvalues

import (
	"context"
	"math"
	"math/rand/v2"
)

// threeStates are the counts of the reports about one key: of + , − and "not held".
type threeStates struct{ reports, plus, minus int }

// fromThreeStates is PrivKV as Wang et al. describe it in words, which may mean this: a client
// draws a key uniformly and reports one of three states of it, the true one with probability
// e^ε/(e^ε+2) and each of the others with 1/(e^ε+2). The registered mechanism has ε/2 for the key
// and ε/2 for the sign.
func fromThreeStates(ctx context.Context, _ *contender, p *population, epsilon float64, _ setting, rng *rand.Rand) (estimate, error) {
	plus, minus, absent := p.ask(rng)
	lie := 1 / (math.Exp(epsilon) + 2)
	truth := 1 - 2*lie
	counts := make([]threeStates, p.dim)
	for k := range counts {
		a, b := trinomial(rng, plus[k], truth, lie)
		c, d := trinomial(rng, minus[k], lie, truth)
		e, f := trinomial(rng, absent[k], lie, lie)
		counts[k] = threeStates{plus[k] + minus[k] + absent[k], a + c + e, b + d + f}
	}
	return estimateStates(counts, epsilon, p.clients()), ctx.Err()
}

// estimateStates is unbiased: the frequency from the reports about the key, 0 where there are none,
// and the mean from all reports of n clients.
func estimateStates(counts []threeStates, epsilon float64, n int) estimate {
	lie := 1 / (math.Exp(epsilon) + 2)
	gap := math.Expm1(epsilon) * lie
	e := estimate{frequency: make([]float64, len(counts)), mean: make([]float64, len(counts))}
	for k, c := range counts {
		if c.reports > 0 {
			e.frequency[k] = (float64(c.plus+c.minus)/float64(c.reports) - 2*lie) / gap
		}
		e.mean[k] = float64(len(counts)) / float64(n) * float64(c.plus-c.minus) / gap
	}
	return e
}
