package main

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/compose"
)

// accountant says what the run has cost the clients that took part most often.
type accountant struct {
	delta float64
	once  func() (float64, error) // central ε of one participation, at delta
	loss  *compose.Distribution   // of one participation; nil without privacy
	known map[int]float64         // by number of participations
}

// newAccountant reads the guarantee of one round of the run.
func newAccountant(c config, m fl.Mechanism) (*accountant, error) {
	a := &accountant{delta: c.delta, known: map[int]float64{}}
	g := m.Guarantee()
	amplifier, shuffled := m.(fl.Amplifier)
	if !shuffled && g.Model != fl.Shuffle {
		return a, nil // tiers and mechanisms without privacy
	}
	a.once = func() (float64, error) { return g.Epsilon, nil }
	if shuffled {
		a.once = func() (float64, error) { return amplifier.Central(c.cohort, c.delta) }
	}
	var err error
	a.loss, err = compose.Reports(m, c.cohort, compose.Options{})
	return a, err
}

// central returns the ε for which clients that took part k times are (ε, δ)-
// differentially private, against those who see only shuffled reports; ok is false
// when there is none. The rounds may depend on one another.
func (a *accountant) central(k int) (epsilon float64, ok bool, err error) {
	if a.loss == nil {
		return 0, false, nil
	}
	if epsilon, ok := a.known[k]; ok {
		return epsilon, true, nil
	}
	if k == 1 {
		epsilon, err = a.once()
	} else {
		var composed *compose.Distribution
		if composed, err = a.loss.Compose(k); err == nil {
			var bounds compose.Bounds
			bounds, err = composed.Epsilon(a.delta)
			epsilon = bounds.Upper
		}
	}
	if err != nil {
		return 0, false, err
	}
	a.known[k] = epsilon
	return epsilon, true, nil
}

// expense is what a run has cost after some rounds.
type expense struct {
	participations int
	central        *float64 // ε at -delta; nil without privacy
}

// after returns the expense of the first rounds rounds.
func (a *accountant) after(c config, rounds int) (expense, error) {
	e := expense{participations: c.participations(rounds)}
	epsilon, private, err := a.central(e.participations)
	if private {
		e.central = &epsilon
	}
	return e, err
}
