// Package liar crafts the reports of clients who lie. Use it to measure what liars do to a mean, as the laboratory does, and to show it,
// as the demo does. Start with [Craft].
//
// A crafted report is one that an honest client may send: nobody can refuse it.
package liar

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privunit"
	"github.com/hushgrad/hushgrad/sparse"
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
	if m, err = openAlone(r); err != nil {
		return nil, err
	}
	return search(r, m, direction, tries, rng)
}

// CraftAssigned is Craft for a liar whose report has a seed that its token has assigned: the liar chooses what is left. Of a dense mechanism
// that is one of k candidates, of which the best one moves the mean about √(2·ln k) times as far as the standard deviation.
func CraftAssigned(r fl.Round, seed uint32, direction []float64, rng *rand.Rand) ([]byte, error) {
	m, err := openAlone(r)
	if err != nil {
		return nil, err
	}
	seeded, ok := m.(fl.SeededMechanism)
	if !ok {
		return nil, fmt.Errorf("liar: %w", fl.Invalid("mechanism", r.Mechanism, "must have seeds"))
	}
	k, err := r.Params.Int(privunit.ParamCandidates)
	if err != nil { // of slots, the first that hits the coordinate is the best
		return search(r, seeded.WithSeed(seed), direction, Tries, rng)
	}
	var best []byte
	furthest := math.Inf(-1)
	for i := range k {
		report := sparse.NewCodec(k).Append(nil, sparse.Report{Seed: seed, Slot: uint32(i)})
		moved, err := along(m, report, direction)
		if err != nil {
			return nil, fmt.Errorf("liar: %w", err)
		}
		if moved > furthest {
			best, furthest = report, moved
		}
	}
	return best, nil
}

// openAlone opens a round whose reports are estimated one by one. Public randomness depends on no number of reports.
func openAlone(r fl.Round) (fl.Mechanism, error) {
	r.MinReports, r.TargetReports = 1, 0
	m, err := fl.Open(r)
	if err != nil {
		return nil, fmt.Errorf("liar: %w", err)
	}
	return m, nil
}

// search returns the best report of a number of tries.
func search(r fl.Round, m fl.Mechanism, direction []float64, tries int, rng *rand.Rand) ([]byte, error) {
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
