package dashboard

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/compose"
	"github.com/hushgrad/hushgrad/server"
)

// spentIn returns, for each round that the server keeps, the local budget of a client that reported once in
// it, in every kept round before it, and in every forgotten round. It is nil from the first round on that
// promises nothing locally, or whose promise is not known yet. There is no central counterpart: the
// central ε is no sum, and each figure takes seconds.
func spentIn(o server.Overview, kinds []*kind) []*Budget {
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
		epsilon, delta, err := compose.Basic(*k.promise.Local, k.promise.LocalDelta, reported[i])
		if err != nil {
			return nil
		}
		epsilons, deltas = append(epsilons, epsilon), append(deltas, delta)
	}
	epsilon, err := compose.SumUp(epsilons)
	if err != nil {
		return nil
	}
	delta, err := compose.SumUp(deltas)
	if err != nil {
		return nil
	}
	return &Budget{Epsilon: fl.FormatUp(epsilon, 4), Delta: fl.FormatUp(min(1, delta), 4)}
}
