package verify

import (
	"context"
	"math"
)

// judge chooses an event for every pair and direction from the first half of the
// samples, and bounds ε by the second half.
func (a *attack) judge(ctx context.Context) error {
	a.report.Method, a.report.Inputs, a.report.Samples, a.report.Confidence = Statistical, a.inputs(), a.samples, a.Confidence
	if a.samples < 2 {
		a.report.Undecided = true
		return nil
	}
	half := a.samples / 2
	rest := a.samples - half
	tests := 2 * len(a.pairs) // directions
	// Every test has two bounds, and each may fail with this probability.
	alpha := (1 - a.Confidence) / float64(2*tests)
	byReport := a.compareReports(half)
	best := math.Inf(-1)
	for p, pair := range a.pairs {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, y := a.values[pair[0]][p], a.values[pair[1]][p]
		if byReport {
			x, y = a.likelihood(pair, half)
		}
		edges := edgesOf(x[:half], y[:half])
		for _, direction := range []struct {
			x, y         []float64
			input, other int
		}{{x, y, pair[0], pair[1]}, {y, x, pair[1], pair[0]}} {
			e := bestEvent(histogram(edges, direction.x[:half]), histogram(edges, direction.y[:half]), func(k, other int) float64 {
				v, _, _ := epsilonBound(k, other, half, a.promise.Delta, alpha)
				return v
			})
			k, other := e.hits(histogram(edges, direction.x[half:])), e.hits(histogram(edges, direction.y[half:]))
			epsilon, lower, upper := epsilonBound(k, other, rest, a.promise.Delta, alpha)
			if epsilon > best || a.report.Worst == nil {
				best = epsilon
				what := "projected estimate in "
				if byReport {
					what = "log-likelihood of the report in "
				}
				a.report.Worst = &Worst{
					Input: a.gradients[direction.input].name, Other: a.gradients[direction.other].name,
					Event: what + e.describe(edges), Lower: lower, Upper: upper,
				}
			}
		}
	}
	a.report.EpsilonFound = Epsilon(max(best, 0))
	a.report.Holds = best <= a.promise.Epsilon
	most, _, _ := epsilonBound(rest, 0, rest, a.promise.Delta, alpha)
	a.report.note("with this many samples no ε above %.3g can be found", max(most, 0))
	if a.ended && a.report.Holds && most <= a.promise.Epsilon {
		a.report.Holds, a.report.Undecided = false, true
	}
	return nil
}

// compareReports says whether reports are few enough to be compared themselves.
func (a *attack) compareReports(half int) bool {
	if a.promise.Trust.Central() {
		return false
	}
	if a.sightless {
		return true
	}
	distinct := map[string]bool{}
	for g := range a.reports {
		if a.reports[g] == nil {
			continue
		}
		for _, report := range a.reports[g][:half] {
			if distinct[report] = true; len(distinct) > maxSymbols {
				return false
			}
		}
	}
	return true
}

// likelihood returns, for every report of a pair, the logarithm of the ratio of its
// frequencies among the samples that choose the event. A report that is new is 0.
func (a *attack) likelihood(pair [2]int, half int) (x, y []float64) {
	count := [2]map[string]float64{{}, {}}
	for side, g := range pair {
		for _, report := range a.reports[g][:half] {
			count[side][report]++
		}
	}
	score := func(g int) []float64 {
		scores := make([]float64, a.samples)
		for i, report := range a.reports[g] {
			scores[i] = math.Log((count[0][report] + 0.5) / (count[1][report] + 0.5))
		}
		return scores
	}
	return score(pair[0]), score(pair[1])
}
