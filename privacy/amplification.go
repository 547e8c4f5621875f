package privacy

import (
	"fmt"
	"math"
)

// Limits of the parameters.
const (
	maxEpsilon = 20
	minUsers   = 2
	maxUsers   = 1_000_000_000
)

// safetyMargin is the part of itself by which Epsilon is raised above the root of
// Delta. Published computations of the same quantities differ from one another by up
// to 2.7·10^-7 at n = 10^6; with the margin a result is not below any of them.
const safetyMargin = 5e-7

// Amplification is a proved upper bound on what an attacker who sees the shuffled reports
// of n users learns about one of them. [Blanket] and [Clone] implement it. What is
// drawn in figures for comparison does not: see [Comparison].
type Amplification interface {
	// Delta returns an upper bound on δ at central ε = epsilonCentral, finite and >= 0.
	// It falls with n and with epsilonCentral.
	Delta(n int, epsilonCentral float64) (float64, error)
	// Epsilon returns an upper bound on the central ε at delta in (0, 1). It falls with n
	// and with delta and is never above the local ε.
	Epsilon(n int, delta float64) (float64, error)
}

// checkedDelta is delta behind the checks that Blanket and Clone share.
func (b *bound) checkedDelta(n int, epsilonCentral float64) (float64, error) {
	if err := checkUsers(n); err != nil {
		return 0, err
	}
	if !(epsilonCentral >= 0) || math.IsInf(epsilonCentral, 1) {
		return 0, fmt.Errorf("privacy: central epsilon: got %v, must be finite and >= 0", epsilonCentral)
	}
	return b.delta(n, epsilonCentral, tableBudget), nil
}

// checkedEpsilon is the root of Delta with the safety margin.
func (b *bound) checkedEpsilon(n int, delta float64) (float64, error) {
	root, err := b.checkedRoot(n, delta)
	return math.Min(b.epsilon, root*(1+safetyMargin)), err
}

// checkedRoot is checkedEpsilon without the margin.
func (b *bound) checkedRoot(n int, delta float64) (float64, error) {
	if err := checkUsers(n); err != nil {
		return 0, err
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	return b.root(n, delta), nil
}

func checkEpsilon(epsilon float64) error {
	if !(epsilon > 0 && epsilon <= maxEpsilon) {
		return fmt.Errorf("privacy: epsilon: got %v, must be in (0, %d]", epsilon, maxEpsilon)
	}
	return nil
}

func checkUsers(n int) error {
	if n < minUsers || n > maxUsers {
		return fmt.Errorf("privacy: number of users: got %d, must be in [%d, %d]", n, minUsers, maxUsers)
	}
	return nil
}

func checkDelta(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("privacy: delta: got %v, must be in (0, 1)", delta)
	}
	return nil
}
