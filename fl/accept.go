package fl

import (
	"cmp"
	"fmt"
	"sync"
)

// Terms are what one report of a round promises a client whose policy accepts the round.
type Terms struct {
	// Tier is the entry of the menu that the client takes, the weakest that its policy allows.
	// It is 0 without a menu, see TieredMechanism.
	Tier int
	// Guarantee is what the report by itself promises.
	Guarantee Guarantee
	// Central is what the report promises against a party that sees only what the shuffler
	// forwards, for a round of Round.MinReports clients. It is the zero Guarantee unless the
	// policy pins the shuffler and the seal key.
	Central Guarantee
}

// Accepter decides for clients whether rounds meet a policy. It remembers bounds on shuffling,
// because one takes up to 100 ms. The zero value is ready, and safe for concurrent use.
type Accepter struct {
	mu    sync.Mutex
	known map[shuffling]Guarantee
}

// shuffling is what a bound on shuffling depends on.
type shuffling struct {
	round [32]byte // its digest
	delta float64
}

// maxKnown is the largest number of bounds that are remembered.
const maxKnown = 64

// Accept returns the terms of a round and its mechanism under a policy. The error wraps ErrPolicy
// when the round does not meet it. A guarantee with trust TwoServers is accepted only if the
// policy names the mechanism and pins both parties: the seal key is the first server's, and the
// share key is the shuffler's, who is the second server. A round in which clients add noise of their own (OwnNoised) is
// accepted by that noise alone, too, and Terms.Guarantee is then its guarantee.
func (a *Accepter) Accept(p Policy, r Round, m Mechanism) (Terms, error) {
	t := Terms{Guarantee: m.Guarantee()}
	pinned := p.CheckShuffler(r)
	if t.Guarantee.Trust == TwoServers {
		return p.acceptShares(r, t.Guarantee, m, cmp.Or(pinned, checkSecond(r)))
	}
	if pinned == nil {
		var err error
		if t.Central, err = a.central(r, m, p.Shuffled.MaxDelta); err != nil {
			return Terms{}, err
		}
	}
	if err := p.Check(r, t.Guarantee); err != nil {
		if pinned == nil {
			return t, p.CheckShuffled(r, t.Guarantee, t.Central)
		}
		if p.Shuffled != nil && p.MaxEpsilon == 0 { // the client counts on the shuffler alone
			err = pinned
		} else if p.Shuffled != nil { // what the client counted on comes first
			err = fmt.Errorf("%w; of the report alone: %w", pinned, err)
		}
		return Terms{}, err
	}
	if menu, ok := m.(TieredMechanism); ok {
		for i, g := range menu.Tiers() {
			if p.Check(r, g) == nil {
				t.Tier, t.Guarantee = i, g
			}
		}
	}
	return t, nil
}

// acceptShares returns the terms of a round of two servers. notTwo says why nobody vouches that they are two. What a client's own noise
// promises needs no server, and is enough where the policy accepts it.
func (p Policy) acceptShares(r Round, shared Guarantee, m Mechanism, notTwo error) (Terms, error) {
	t := Terms{Guarantee: shared, Central: shared}
	if notTwo != nil {
		t.Central = Guarantee{}
	}
	if noised, ok := m.(OwnNoised); ok {
		if own, ok := noised.OwnGuarantee(); ok {
			t.Guarantee = own
			if p.Check(r, own) == nil {
				return t, nil
			}
		}
	}
	if notTwo != nil {
		return Terms{}, notTwo
	}
	return t, p.Check(r, shared)
}

// central returns what a report of a round promises against a party that sees only the shuffled
// reports of Round.MinReports clients. It is the zero Guarantee for a mechanism that is not local.
func (a *Accepter) central(r Round, m Mechanism, delta float64) (Guarantee, error) {
	digest, err := r.Digest()
	if err != nil {
		return Guarantee{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := shuffling{digest, delta}
	if g, ok := a.known[key]; ok {
		return g, nil
	}
	g, err := shuffled(r, m, delta)
	if err != nil {
		return Guarantee{}, err
	}
	if a.known == nil || len(a.known) >= maxKnown {
		a.known = map[shuffling]Guarantee{}
	}
	a.known[key] = g
	return g, nil
}

func shuffled(r Round, m Mechanism, delta float64) (Guarantee, error) {
	g := m.Guarantee()
	_, tiered := m.(TieredMechanism)
	if g.Trust != Local || tiered {
		return Guarantee{}, nil
	}
	g.Trust = Shuffle // shuffling does not weaken a local guarantee
	a, ok := m.(Amplifier)
	if !ok || g.Delta != 0 || !(delta > 0 && delta < 1) || r.MinReports < 2 {
		return g, nil
	}
	epsilon, err := a.Shuffled().Epsilon(r.MinReports, delta)
	g.Epsilon, g.Delta = epsilon, delta
	return g, err
}
