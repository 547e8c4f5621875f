package hetero

import (
	"fmt"
	"math"
	"slices"
)

// Correlated returns the weights of least [CorrelatedRisk]. Where several have the least
// risk, it returns the weights of least ‖w‖₂. See [PACFactor] and [MSEFactor] for l in [0, 1e9].
// O(n log n).
func Correlated(eps []float64, l float64) (Weights, error) {
	if err := checkOptimal(eps, "l", l, maxFactor); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	return correlated(eps, ascending(eps), l), nil
}

// Uncorrelated returns the weights of least [UncorrelatedRisk]. O(n log n).
//
// r_U is the smaller of r_C and a risk with L·‖w‖₂² in place of the L1 distance,
// which [Turbo] minimises; so the better one of the two optima is optimal.
func Uncorrelated(eps []float64, l float64) (Weights, error) {
	if err := checkOptimal(eps, "l", l, maxFactor); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	sorted := ascending(eps)
	biased, spread := correlated(eps, sorted, l), turbo(eps, sorted, l)
	if biased.uncorrelatedRisk(eps, l) <= spread.uncorrelatedRisk(eps, l) {
		return biased, nil
	}
	return spread, nil
}

// Turbo returns the weights that minimise ‖w‖₂² + noise·‖w/ε‖_∞², with noise in
// [0, 1e18] (paper, Algorithm 3). It bounds r_C for noise = L²/n, where ‖·‖₁ is
// replaced by √n·‖·‖₂, and r_U for noise = L. O(n log n).
func Turbo(eps []float64, noise float64) (Weights, error) {
	if err := checkOptimal(eps, "noise", noise, maxFactor*maxFactor); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	return turbo(eps, ascending(eps), noise), nil
}

func checkOptimal(eps []float64, name string, factor, most float64) error {
	if err := checkDemands(eps); err != nil {
		return err
	}
	return checkFactor(name, factor, most)
}

func ascending(eps []float64) []float64 {
	sorted := slices.Clone(eps)
	slices.Sort(sorted)
	return sorted
}

// truncated returns the weights in proportion to min(ε, ρ). All of the demands
// are +Inf if ρ is.
func truncated(eps []float64, rho float64) Weights {
	if math.IsInf(rho, 1) {
		rho = 1
	}
	return proportional(eps, func(e float64) float64 { return min(e, rho) })
}

// turbo finds the ρ where the derivative of (Σ r² + noise)/(Σ r)², r = min(ε, ρ),
// vanishes: ρ·Σ r = Σ r² + noise, which is
//
//	Σ ε_i·(ρ−ε_i) = noise   over the k demands below ρ,
//
// so ρ = (noise + Σ ε_i²)/Σ ε_i. The left-hand side grows with ρ: the first k
// whose ρ is at most the next demand is the right one. With no such k all demands
// are truncated and ρ may be the largest.
func turbo(eps, sorted []float64, noise float64) Weights {
	rho, sum, squares := sorted[0], 0., 0.
	for _, e := range sorted {
		if rho <= e && sum > 0 || math.IsInf(e, 1) {
			break
		}
		sum += e
		squares += e * e
		rho = (noise + squares) / sum
	}
	return truncated(eps, rho)
}

// correlated first finds the noise scale v. The distance ‖w − 1/n‖₁ is at least
// 2·Σ (1/n − v·ε_i)_+, the sum over the k demands below τ = 1/(n·v), and all
// weights between v·ε_i and 1/n that sum to 1 reach it. The derivative of the risk
// by v vanishes where
//
//	Σ (τ−ε_i) = L²/(4·Σ ε_i)   over the k demands below τ.
//
// The difference of the sides grows with τ, and jumps at the demands; the root may
// be at a jump. Then ρ follows from Σ min(ε, ρ) = 1/v = n·τ. Weights of sum 1 need
// v·Σ ε ≥ 1; where τ is above the mean demand, ρ comes out above the largest.
func correlated(eps, sorted []float64, l float64) Weights {
	n := float64(len(sorted))
	tau, sum := sorted[0], 0.
	for i, e := range sorted {
		if tau <= e && i > 0 || math.IsInf(e, 1) {
			break
		}
		sum += e
		tau = max(e, (sum+l/sum*l/4)/float64(i+1))
	}
	rho := sorted[0]
	sum = 0
	for i, e := range sorted {
		rho = (n*tau - sum) / (n - float64(i))
		if rho <= e {
			break
		}
		sum += e
	}
	return truncated(eps, rho)
}
