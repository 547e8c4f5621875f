package shufflesum

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/rotation"
)

// highDim is HighDimSum, with fresh public signs in every repeat.
func highDim(ctx context.Context, images [][]int64, dim int, epsilon float64, relation fl.Relation, composition hdsum.Composition) (vectorMethod, error) {
	c := hdsum.HighDimConfig{
		Config: hdsum.Config{Clients: len(images), Epsilon: epsilon, Delta: paperDelta, Relation: relation},
		Dim:    dim, Norm: norm, Composition: composition, Beta: paperBeta,
	}
	first, err := hdsum.NewHighDimSum(c)
	if err != nil {
		return vectorMethod{}, err
	}
	cost := first.Cost()
	m := vectorMethod{name: "HighDimSum", relation: relation.String(), composition: composition.String(), bits: cost.Bits / cost.Messages}
	if relation == fl.ZeroOut && composition == hdsum.Paper {
		m.paper, m.paperMessages = paperHighDim, paperHighDimMessages
	}
	m.simulate = func(rng *rand.Rand) ([]float64, int64, error) {
		h, err := hdsum.NewHighDimSum(keyed(c, rng))
		if err != nil {
			return nil, 0, err
		}
		everybody := h.NewPopulation()
		for k, x := range images {
			if k%1000 == 0 && ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			if err := everybody.Add(x, rng); err != nil {
				return nil, 0, err
			}
		}
		e, sent, err := everybody.Estimate(rng)
		if err != nil {
			return nil, 0, err
		}
		return e.Value, sent, nil
	}
	return m, nil
}

// keyed returns the configuration with a fresh public key.
func keyed(c hdsum.HighDimConfig, rng *rand.Rand) hdsum.HighDimConfig {
	for k := range c.Key {
		c.Key[k] = byte(rng.Uint32())
	}
	return c
}

// logarithm is the one that a formula without a base may mean.
type logarithm uint8

const (
	baseTwo logarithm = iota
	natural
)

func (l logarithm) String() string { return [...]string{"base-2", "natural"}[l] }

func (l logarithm) of(x float64) float64 {
	if l == baseTwo {
		return math.Log2(x)
	}
	return math.Log(x)
}

func hlyName(l logarithm) string { return fmt.Sprintf("HLY, %s logarithms", l) }

// hly is the one-round protocol of Huang, Liang, Yi, "Instance-optimal mean estimation under
// differential privacy" (2021), as Dong et al. describe it. Its instances are BBGN, whose
// noise does not depend on the inputs: an instance is an instance of zeros plus the rotated sum. No
// 0/1 image has a rotated coordinate beyond B, as ‖x‖₁ ≤ d < B.
func hly(images [][]int64, sum []float64, epsilon float64, l logarithm) (vectorMethod, error) {
	first, err := rotation.New(len(sum), [32]byte{})
	if err != nil {
		return vectorMethod{}, err
	}
	n, padded := len(images), make([]int64, first.PaddedDim())
	for i, x := range sum {
		padded[i] = int64(x)
	}
	d := float64(len(padded))
	bound := math.Ceil(norm * l.of(float64(n)*d))
	if bound < float64(len(sum)) {
		return vectorMethod{}, fl.Invalid("images", n, "must be more, so that HLY clips none of them: its bound is %g", bound)
	}
	each := hdsum.Config{
		Clients: n, Epsilon: epsilon / (2 * math.Sqrt(d*l.of(2/paperDelta))), Delta: paperDelta / (2 * d),
		Relation: fl.ZeroOut, Base: hdsum.BBGN,
	}
	coordinate, err := hdsum.NewBaseSum(each, int64(2*bound))
	if err != nil {
		return vectorMethod{}, err
	}
	m := vectorMethod{name: hlyName(l), bits: coordinate.Cost().Bits / coordinate.Cost().Messages}
	if l == baseTwo {
		m.paper, m.paperMessages = paperHLY, paperHLYMessages
	}
	m.simulate = func(rng *rand.Rand) ([]float64, int64, error) {
		r, err := rotation.New(len(padded), keyed(hdsum.HighDimConfig{}, rng).Key)
		if err != nil {
			return nil, 0, err
		}
		rotated, estimates, got := make([]int64, len(padded)), make([]float64, len(padded)), make([]float64, len(padded))
		if err := r.ForwardInt(rotated, padded); err != nil {
			return nil, 0, err
		}
		messages := int64(0)
		for i, x := range rotated {
			noise, sent, err := coordinate.SimulateCounts([]hdsum.Count{{Clients: int64(n)}}, rng)
			if err != nil {
				return nil, 0, err
			}
			estimates[i] = float64(x) + noise
			messages += sent
		}
		if err := r.Inverse(got, estimates); err != nil {
			return nil, 0, err
		}
		return got, messages, nil
	}
	return m, nil
}

// centralVector is Gaussian noise of a trusted server, σ = Δ·√(2·ln(1.25/δ))/ε for a norm Δ of
// twice the largest (Dwork, Roth, The Algorithmic Foundations of Differential Privacy, 2014,
// Theorem A.1). The formula is proved for ε < 1; it is the usual one, and the paper's ε is 5.
func centralVector(images [][]int64, sum []float64, epsilon float64) vectorMethod {
	largest := 0.
	for _, x := range images {
		square := 0.
		for _, v := range x {
			square += float64(v * v)
		}
		largest = max(largest, math.Sqrt(square))
	}
	sigma := 2 * largest * math.Sqrt(2*math.Log(1.25/paperDelta)) / epsilon
	return vectorMethod{name: centralName, paper: paperCentral, simulate: func(rng *rand.Rand) ([]float64, int64, error) {
		got := make([]float64, len(sum))
		for i, x := range sum {
			got[i] = x + sigma*rng.NormFloat64()
		}
		return got, 0, nil
	}}
}
