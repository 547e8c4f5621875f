// Package liar crafts the reports of clients who lie. Use it to measure what liars do to a mean, as the laboratory does, and to show it,
// as the demo does. Start with [Craft].
//
// A crafted report is one that an honest client may send: nobody can refuse it.
package liar

import (
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// Tries is how many reports a liar tries. Of N reports of a dense mechanism, such as privunit, the best one moves the mean about √(2·ln N)
// times as far as the standard deviation of one: 4.1 times for Tries, and 6.4 times for the 10^9 of a liar with more time.
const Tries = 5_000

// Craft returns the report, of a number of tries, that moves the mean of a round furthest along a direction, which has
// Dim numbers. Tries are honest reports of a client whose clipped gradient points there. To two servers with proofs it returns a report that
// is as long as proofs allow, and to two servers without proofs one that ruins the sum.
//
// Each try costs a report and an estimate of one report. Sparse mechanisms stop at the first try that hits the
// direction's coordinate, where there is one.
func Craft(r fl.Round, direction []float64, tries int, rng *rand.Rand) ([]byte, error) {
	m, err := fl.Open(r)
	if err != nil {
		return nil, fmt.Errorf("liar: %w", err)
	}
	if m, ok := m.(fl.SharedMechanism); ok {
		return ofShares(r, m, direction, rng)
	}
	r.MinReports, r.TargetReports = 1, 0 // public randomness depends on none of them
	if m, err = fl.Open(r); err != nil {
		return nil, fmt.Errorf("liar: %w", err)
	}
	long := make([]float64, len(direction)) // beyond any clip
	for i, v := range direction {
		long[i] = v * 1e6 * r.Scale
	}
	var best []byte
	furthest := 0.
	for range tries {
		report, err := m.Encode(nil, long, rng)
		if err != nil {
			return nil, fmt.Errorf("liar: %w", err)
		}
		moved, err := along(m, report, direction)
		if err != nil {
			return nil, fmt.Errorf("liar: %w", err)
		}
		if best == nil || moved > furthest {
			best, furthest = report, moved
		}
		if _, sparse := m.(fl.SparseMechanism); sparse && furthest > 0 {
			break // no report moves it further
		}
	}
	return best, nil
}

// along returns how far a report alone moves the estimate along a direction.
func along(m fl.Mechanism, report []byte, direction []float64) (moved float64, err error) {
	a := m.NewAggregator()
	if err := a.Add(report); err != nil {
		return 0, err
	}
	e, err := a.Estimate()
	if err != nil {
		return 0, err
	}
	for i, v := range e.Mean().Value {
		moved += v * direction[i]
	}
	return moved, nil
}
