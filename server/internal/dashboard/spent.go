package dashboard

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// spentIn returns, for each round that the server keeps, the local budget of a client that reported once in
// it, in every kept round before it, and in every forgotten round. It is nil from the first round on that
// promises nothing locally, or whose promise is not known yet. There is no central counterpart: the
// central ε is no sum, and each figure takes seconds.
func spentIn(o overview.Overview, kinds []*kind) []*Budget {
	out := make([]*Budget, len(o.Rounds))
	if o.Unknown > 0 {
		return out
	}
	reported := counts(o) // by kind: first in the forgotten rounds alone
	for _, r := range o.Rounds {
		if r.Kind < 0 {
			return out
		}
		reported[r.Kind]--
	}
	for i, r := range o.Rounds {
		reported[r.Kind]++
		if out[i] = summed(kinds, reported); out[i] == nil {
			return out
		}
	}
	return out
}

// summed is the local budget of a client by its number of reports in rounds of each kind, nil where there is
// none.
func summed(kinds []*kind, reported []int) *Budget {
	var epsilons, deltas []float64
	for i, k := range kinds {
		if reported[i] == 0 {
			continue
		}
		if k == nil || k.why != "" || k.promise.Local == nil {
			return nil
		}
		epsilon, delta, err := privacy.BasicComposition(*k.promise.Local, k.promise.LocalDelta, reported[i])
		if err != nil {
			return nil
		}
		epsilons, deltas = append(epsilons, epsilon), append(deltas, delta)
	}
	epsilon, failed := privacy.SumUp(epsilons)
	delta, err := privacy.SumUp(deltas)
	if failed != nil || err != nil {
		return nil
	}
	return &Budget{Epsilon: fl.FormatUp(epsilon, 4), Delta: fl.FormatUp(min(1, delta), 4)}
}
