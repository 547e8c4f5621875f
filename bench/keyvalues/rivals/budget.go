package rivals

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
)

// Budget is how much of the privacy budget the two perturbations get: Key is ε1, for whether
// the key shows, Value is ε2, for its sign.
type Budget struct{ Key, Value float64 }

// UETotal is the ε of PCKV-UE with this budget (Theorem 2).
func (b Budget) UETotal() float64 {
	return max(b.Value, b.Key+math.Ln2-math.Log1p(math.Exp(-b.Value)))
}

// GRRTotal is the ε of PCKV-GRR with this budget and padding length ℓ ≥ 1 (Theorem 3).
// ℓ = 1 gives the ε that holds whatever the padding.
func (b Budget) GRRTotal(padding int) float64 {
	half := (math.Exp(b.Value) + 1) / 2
	lambda := float64(padding-1) * half
	return math.Log((math.Exp(b.Key+b.Value) + lambda) / (min(math.Exp(b.Key), half) + lambda))
}

// UE is the channel of Algorithm 2 with a = 1/2.
func (b Budget) UE() keyvalue.Channel {
	return keyvalue.Channel{
		Background: 1 / (math.Exp(b.Key) + 1),
		Hold:       math.Tanh(b.Key/2) / 2,
		Sign:       math.Tanh(b.Value/2) / 2,
	}
}

// GRR is the channel of Algorithm 3 over dim keys and padding dummies.
func (b Budget) GRR(dim, padding int) keyvalue.Channel {
	total := math.Exp(b.Key) + float64(dim+padding-1)
	return keyvalue.Channel{
		Background: 1 / total,
		Hold:       math.Expm1(b.Key) / total,
		Sign:       math.Exp(b.Key) * math.Tanh(b.Value/2) / total,
	}
}

// Allocation is a way to split ε.
type Allocation int

const (
	// Optimized is Lemmas 2 and 3, what the mechanisms do: best for means.
	Optimized Allocation = iota
	// NonOptimized is equation (21): ε2 = ε/2, and all that Theorems 2 and 3 leave for ε1.
	// Frequencies are a little more accurate than with Optimized, means less.
	NonOptimized
	// Naive is ε1 = ε2 = ε/2: sequential composition, which overestimates what is spent.
	Naive
)

// UE returns the budget for PCKV-UE, epsilon in (0, 20].
func (a Allocation) UE(epsilon float64) (Budget, error) { return a.GRR(epsilon, 1) }

// GRR returns the budget for PCKV-GRR with the gain of padding ≥ 1; padding = 1 is
// without it, and the same as for PCKV-UE.
func (a Allocation) GRR(epsilon float64, padding int) (Budget, error) {
	switch {
	case !(epsilon > 0 && epsilon <= fl.MaxEpsilon):
		return Budget{}, fmt.Errorf("pckv: %w", fl.Invalid("epsilon", epsilon, "must be in (0, %d]", fl.MaxEpsilon))
	case padding < 1 || padding > fl.MaxDim:
		return Budget{}, fmt.Errorf("pckv: %w", fl.Invalid(keyvalue.ParamPadding, padding, "must be in [1, %d]", fl.MaxDim))
	}
	excess := float64(padding) * math.Expm1(epsilon) // e^ε2 − 1 of Lemma 3
	switch a {
	case Optimized:
		return Budget{Key: math.Log1p(excess / 2), Value: math.Log1p(excess)}, nil
	case NonOptimized:
		// The minimum of Theorem 3 is its second term, and e^(ε1+ε/2) = (1 + excess)(e^(ε/2) + 1)/2.
		return Budget{Key: math.Log1p(excess) + math.Log1p(math.Expm1(-epsilon/2)/2), Value: epsilon / 2}, nil
	case Naive:
		return Budget{Key: epsilon / 2, Value: epsilon / 2}, nil
	}
	return Budget{}, fmt.Errorf("pckv: %w", fl.Invalid("allocation", int(a), "must be Optimized, NonOptimized or Naive"))
}
