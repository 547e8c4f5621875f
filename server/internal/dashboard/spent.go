package dashboard

import (
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/server/client"
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
	all := budget(epsilon, delta)
	return &all
}

// fewerIn is the local budget of as many reports as a client has by the run's plan, or of one: each may be the one that costs most.
// It is nil where a kind of rounds promises nothing locally, promises it to records, or is not known.
func fewerIn(o overview.Overview, kinds []*kind) *Fewer {
	out := &Fewer{Reports: 1}
	if i := slices.IndexFunc(o.Series, func(s overview.Series) bool { return s.Name == client.ReportsOfAClient }); i >= 0 {
		points := o.Series[i].Points
		k := points[len(points)-1].Value
		if !(k >= 1 && k <= fl.MaxReports) || k != math.Trunc(k) {
			return nil
		}
		out.Reports, out.Planned = int(k), true
	}
	if o.Unknown > 0 || out.Reports >= total(o) {
		return nil
	}
	epsilon, delta := 0., 0.
	for _, k := range kinds {
		if k == nil || k.why != "" || k.promise.Local == nil || k.round.AboutRecords() {
			return nil
		}
		epsilon, delta = max(epsilon, *k.promise.Local), max(delta, k.promise.LocalDelta)
	}
	epsilon, delta, err := privacy.BasicComposition(epsilon, delta, out.Reports)
	if err != nil {
		return nil
	}
	out.Local = budget(epsilon, delta)
	return out
}

func budget(epsilon, delta float64) Budget {
	return Budget{Epsilon: fl.FormatUp(epsilon, 4), Delta: fl.FormatUp(min(1, delta), 4)}
}
