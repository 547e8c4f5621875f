package dashboard

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// maxComposed is how many kinds of rounds are composed.
const maxComposed = 16

// add computes what all rounds promise together.
func (p *promises) add(ctx context.Context, o overview.Overview, kinds []*kind) Together {
	t := Together{}
	for _, k := range o.Kinds {
		t.Composed += k.Count
	}
	switch {
	case o.Unknown > 0:
		t.Unknown = fmt.Sprintf("%d earlier rounds are not known any more, so what they cost is not, either", o.Unknown)
	case len(kinds) == 0:
		t.Unknown = "no round was opened yet"
	case len(kinds) > maxComposed:
		t.Unknown = fmt.Sprintf("the rounds are of %d kinds, and at most %d are composed", len(kinds), maxComposed)
	}
	for _, k := range kinds {
		if t.Unknown == "" && (k == nil || k.why != "") {
			t.Unknown = "what one of the rounds promises could not be computed"
		}
	}
	if t.Unknown != "" {
		return t
	}
	promise, err := p.guarded(ctx, o.Kinds, kinds)
	if err != nil {
		t.Unknown = err.Error()
		return t
	}
	t.Promise = inWords(promise)
	t.Promise.Notes = append(t.Promise.Notes, togetherNotes(promise, kinds)...)
	return t
}

// guarded is all. A mechanism of somebody else's may panic when it is composed.
func (p *promises) guarded(ctx context.Context, of []overview.Kind, kinds []*kind) (promise plan.Promise, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = errors.New("a mechanism panicked when it was composed")
		}
	}()
	return p.all(ctx, of, kinds)
}

// all composes what one round of each kind promises, as often as there are rounds.
func (p *promises) all(ctx context.Context, of []overview.Kind, kinds []*kind) (plan.Promise, error) {
	if len(of) == 1 && kinds[0].spending != nil {
		return kinds[0].spending.Promise(ctx, of[0].Count)
	}
	out := plan.Promise{Delta: p.delta, TwoServers: kinds[0].promise.TwoServers}
	local, shuffled, none, largest := true, true, false, 0.
	var epsilons, deltas []float64
	for i, k := range kinds {
		out.Participations += of[i].Count
		none = none || k.promise.Local == nil && k.promise.Central == nil
		shuffled = shuffled && k.promise.Central != nil
		if k.promise.TwoServers != out.TwoServers {
			return out, errors.New("some rounds trust a shuffler and others two servers, and no figure is against the same party")
		}
		if k.promise.Local == nil {
			local = false
			continue
		}
		epsilon, delta, err := privacy.BasicComposition(*k.promise.Local, k.promise.LocalDelta, of[i].Count)
		if err != nil {
			return out, err
		}
		epsilons, deltas, largest = append(epsilons, epsilon), append(deltas, delta), max(largest, *k.promise.Local)
	}
	if none { // a client that took part in that round has shown its gradient
		return plan.Promise{Delta: p.delta, Participations: out.Participations}, nil
	}
	if !local && !shuffled {
		return out, errors.New("the rounds promise nothing against one and the same party")
	}
	if local {
		total, err := privacy.SumUp(epsilons)
		if err != nil {
			return out, err
		}
		if out.LocalDelta, err = privacy.SumUp(deltas); err != nil {
			return out, err
		}
		out.Local, out.LocalTotal, out.LocalDelta = &largest, &total, min(1, out.LocalDelta)
	}
	if !shuffled {
		return out, nil
	}
	central, err := p.central(ctx, of, kinds)
	out.Central = &central
	return out, err
}

// central is the ε of different rounds at p.delta, against a party that sees what each round gives
// together.
func (p *promises) central(ctx context.Context, of []overview.Kind, kinds []*kind) (float64, error) {
	var loss *privacy.Distribution
	for i, k := range kinds {
		m, err := fl.Open(k.round)
		if err != nil {
			return 0, err
		}
		one, err := privacy.Reports(ctx, m, k.round.MinReports, privacy.Options{})
		if err == nil {
			one, err = one.Compose(of[i].Count)
		}
		if err == nil && loss != nil {
			one, err = loss.Then(ctx, one)
		}
		if err != nil {
			return 0, err
		}
		loss = one
	}
	return loss.UpperEpsilon(ctx, p.delta)
}

// togetherNotes say what the promise of all rounds rests on.
func togetherNotes(p plan.Promise, kinds []*kind) []string {
	out := []string{"This is about a client that reported once in every round that this server knows of. What it reports to other servers comes on top."}
	if slices.ContainsFunc(kinds, func(k *kind) bool { return k.round.AboutRecords() }) {
		out = append(out, aboutRecords)
	}
	if p.Local != nil && len(kinds) > 1 {
		out = append(out, "The rounds differ. The ε of one report is the largest of them.")
	}
	if p.Central == nil {
		return out
	}
	out = append(out, "The central ε holds if the rounds were planned beforehand, and not chosen after a look at earlier reports. It counts on min_reports honest clients in every round.")
	for _, k := range kinds {
		if k.round.Shuffler == "" {
			return append(out, "Nothing shuffles in some rounds, or in all: their reports come to this server directly. The central ε does not hold against it.")
		}
	}
	return append(out, "The central ε counts on the shufflers of the rounds.")
}
