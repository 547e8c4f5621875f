package plan

import (
	"context"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
)

// Spending is what the rounds of a run cost a client that takes part in turn with all
// others. It composes the guarantees of a client's reports. The rounds may depend on one
// another.
//
// It is not safe for concurrent use.
type Spending struct {
	clients, cohort int
	delta           float64
	guarantee       fl.Guarantee
	own             fl.Guarantee // of the clients' own noise beside two servers', or zero
	honest          fl.Guarantee // of a server's and honest clients' noise together, or zero
	honestReports   int
	mechanism       fl.Mechanism            // nil where nothing is composed
	once            func() (float64, error) // central ε of one participation, at delta
	loss            *privacy.Distribution   // of one participation; nil before it is needed
	known           map[int]float64         // by number of participations
}

// NewSpending returns the cost of a run whose rounds have the mechanism m and cohorts of the
// given size. Central ε are stated at delta, which is in (0, 1).
//
// Cost: O(1). The first Promise that composes costs one privacy.Reports, too: a Promise of more than
// one participation, or for a mechanism that says nothing of one participation at delta.
func NewSpending(m fl.Mechanism, clients, cohort int, delta float64) (*Spending, error) {
	switch {
	case cohort < 1:
		return nil, fmt.Errorf("plan: %w", fl.Invalid("cohort", cohort, "must be at least 1"))
	case clients < cohort:
		return nil, fmt.Errorf("plan: %w", fl.Invalid("clients", clients, "must be at least the cohort, %d", cohort))
	case !(delta > 0 && delta < 1):
		return nil, fmt.Errorf("plan: %w", fl.Invalid("delta", delta, "must be in (0, 1)"))
	}
	s := &Spending{clients: clients, cohort: cohort, delta: delta, guarantee: m.Guarantee(), known: map[int]float64{}}
	if s.guarantee.Trust == fl.NoPrivacy {
		return s, nil
	}
	if noised, ok := m.(fl.OwnNoised); ok {
		s.own, _ = noised.OwnGuarantee()
	}
	if noised, ok := m.(fl.HonestNoised); ok {
		s.honest, s.honestReports, _ = noised.HonestGuarantee()
	}
	amplifier, amplified := m.(fl.Amplifier)
	menu, tiered := m.(fl.TieredMechanism)
	switch {
	case tiered: // clients choose: what covers the last of the menu covers all
		s.guarantee = menu.Tiers()[len(menu.Tiers())-1]
	case amplified:
		s.once = func() (float64, error) { return amplifier.Shuffled().Epsilon(cohort, delta) }
	case s.guarantee.Delta <= delta:
		s.once = func() (float64, error) { return s.guarantee.Epsilon, nil }
	}
	if err := privacy.CheckReports(m, cohort); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	s.mechanism = m
	return s, nil
}

// Participations returns how often a client takes part in the first rounds, at most:
// clients take part in turn.
func (s *Spending) Participations(rounds int) int {
	return (rounds*s.cohort + s.clients - 1) / s.clients
}

// Promise returns what the first rounds promise each client.
func (s *Spending) Promise(ctx context.Context, rounds int) (Promise, error) {
	p, err := s.local(rounds)
	if err != nil || s.mechanism == nil {
		return p, err
	}
	epsilon, err := s.central(ctx, p.Participations)
	if err != nil {
		return Promise{}, fmt.Errorf("plan: %w", err)
	}
	if s.own.Sigma > 0 {
		total, err := s.gaussianTotal(ctx, s.own, p.Participations)
		if err != nil {
			return Promise{}, fmt.Errorf("plan: %w", err)
		}
		p.Local, p.LocalTotal, p.LocalDelta = &s.own.Epsilon, &total, s.delta
	}
	if s.honest.Sigma > 0 {
		total, err := s.gaussianTotal(ctx, s.honest, p.Participations)
		if err != nil {
			return Promise{}, fmt.Errorf("plan: %w", err)
		}
		p.Honest, p.HonestReports, p.Reports = &total, s.honestReports, s.cohort
	}
	if s.guarantee.Trust != fl.Local || s.guarantee.Sigma == 0 {
		p.Central = &epsilon
	} else if epsilon < *p.LocalTotal && s.guarantee.Delta <= s.delta { // the client's own noise: shuffling has no part in it
		p.LocalTotal, p.LocalDelta = &epsilon, s.delta
	}
	return p, nil
}

// local is the part of Promise that holds against everybody by the sum of all reports. It costs no composition.
func (s *Spending) local(rounds int) (Promise, error) {
	p := Promise{Delta: s.delta, Participations: s.Participations(rounds), TwoServers: s.guarantee.Trust == fl.TwoServers}
	if s.guarantee.Trust == fl.Local {
		total, delta, err := privacy.BasicComposition(s.guarantee.Epsilon, s.guarantee.Delta, p.Participations)
		if err != nil {
			return Promise{}, fmt.Errorf("plan: %w", err)
		}
		p.Local, p.LocalTotal, p.LocalDelta = &s.guarantee.Epsilon, &total, delta
	}
	return p, nil
}

// gaussianTotal is the ε of k participations together by Gaussian noise.
func (s *Spending) gaussianTotal(ctx context.Context, g fl.Guarantee, k int) (float64, error) {
	all, err := privacy.Compose(ctx, privacy.GaussianReports(g.Sigma, k), privacy.Options{})
	if err != nil {
		return 0, err
	}
	epsilon, err := all.UpperEpsilon(ctx, s.delta)
	if epsilon > fl.MaxEpsilon {
		epsilon = math.Inf(1) // see privacy.GaussianReports
	}
	if k == 1 && g.Delta <= s.delta {
		epsilon = min(epsilon, g.Epsilon)
	}
	return epsilon, err
}

// central is the ε of k participations together.
func (s *Spending) central(ctx context.Context, k int) (epsilon float64, err error) {
	if epsilon, ok := s.known[k]; ok {
		return epsilon, nil
	}
	if k == 1 && s.once != nil {
		epsilon, err = s.once()
	} else {
		epsilon, err = s.composed(ctx, k)
	}
	if err != nil {
		return 0, err
	}
	s.known[k] = epsilon
	return epsilon, nil
}

// composed is the ε of k participations by composition.
func (s *Spending) composed(ctx context.Context, k int) (float64, error) {
	if s.loss == nil {
		one, err := privacy.Reports(ctx, s.mechanism, s.cohort, privacy.Options{})
		if err != nil {
			return 0, err
		}
		s.loss = one
	}
	all, err := s.loss.Compose(k)
	if err != nil {
		return 0, err
	}
	epsilon, err := all.UpperEpsilon(ctx, s.delta)
	if s.guarantee.Sigma > 0 && epsilon > fl.MaxEpsilon {
		return math.Inf(1), err // see privacy.GaussianReports
	}
	return epsilon, err
}

// shareOf returns the largest ε that k reports may have whose sum, rounded up, is within a budget. The quotient may lie a rounding above it.
func shareOf(budget float64, k int) (float64, error) {
	share := budget / float64(k)
	for {
		all, _, err := privacy.BasicComposition(share, 0, k)
		if err != nil || all <= budget {
			return share, err
		}
		share = math.Nextafter(share, 0)
	}
}

// Within returns how many of the given rounds keep the ε of a client within a budget: with the trust Nobody
// the sum of the local ε of its reports, with OwnSite their composed local ε, with any other the composed central ε. It is from 0 to rounds, and
// rounds where there is no such ε.
func (s *Spending) Within(ctx context.Context, trust Trust, budget float64, rounds int) (int, error) {
	if s.guarantee.Trust == fl.NoPrivacy || trust != Nobody && s.mechanism == nil {
		return rounds, nil
	}
	fits := func(n int) (bool, error) {
		if trust == Nobody {
			p, err := s.local(n)
			return err == nil && p.LocalTotal != nil && *p.LocalTotal <= budget, err
		}
		p, err := s.Promise(ctx, n)
		total := p.Central
		if trust == OwnSite {
			total = p.LocalTotal
		}
		return err == nil && total != nil && *total <= budget, err
	}
	// The ε grows with the number of rounds: n fit, and more than most do not.
	n, most := 0, rounds
	for try := rounds; n < most; try = n + (most-n+1)/2 {
		ok, err := fits(try)
		if err != nil {
			return 0, err
		}
		if ok {
			n = try
		} else {
			most = try - 1
		}
	}
	return n, nil
}
