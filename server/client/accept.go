package client

import (
	"sync"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/hushgrad/hushgrad/fl"
)

// accept checks a round against the policy. It decides which guarantee of a menu the client takes,
// and notes the central guarantee that holds if the policy pins the round's shuffler.
func (p *Participation) accept() error {
	policy := p.client.opts.Policy
	p.guarantee = p.mechanism.Guarantee()
	pinned := policy.CheckShuffler(p.round)
	if p.guarantee.Trust == fl.TwoServers {
		if pinned != nil { // nobody says that these are two
			return pinned
		}
		p.central = p.guarantee
		return policy.Check(p.round, p.guarantee)
	}
	if pinned == nil {
		var err error
		if p.central, err = p.client.centrals.of(p.round, p.digest, p.mechanism, policy.Shuffled.MaxDelta); err != nil {
			return err
		}
	}
	if err := policy.Check(p.round, p.guarantee); err != nil {
		if pinned != nil {
			return err
		}
		return policy.CheckShuffled(p.round, p.guarantee, p.central)
	}
	if menu, ok := p.mechanism.(fl.TieredMechanism); ok {
		for i, g := range menu.Tiers() {
			if policy.Check(p.round, g) == nil {
				p.tier, p.guarantee = i, g
			}
		}
	}
	return nil
}

// centrals remembers the central guarantees of rounds, because a bound on shuffling takes up to
// 100 ms. The zero value is empty.
type centrals struct {
	mu    sync.Mutex
	known map[[32]byte]fl.Guarantee // by the round's digest
}

const maxCentrals = 64

// of returns what a report of a round promises against a party that sees only the shuffled reports
// of Round.MinReports clients. It is the zero Guarantee for a mechanism that is not local.
func (c *centrals) of(r fl.Round, digest [32]byte, m fl.Mechanism, delta float64) (fl.Guarantee, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g, ok := c.known[digest]; ok {
		return g, nil
	}
	g, err := shuffled(r, m, delta)
	if err != nil {
		return fl.Guarantee{}, err
	}
	if c.known == nil || len(c.known) >= maxCentrals {
		c.known = map[[32]byte]fl.Guarantee{}
	}
	c.known[digest] = g
	return g, nil
}

func shuffled(r fl.Round, m fl.Mechanism, delta float64) (fl.Guarantee, error) {
	g := m.Guarantee()
	_, tiered := m.(fl.TieredMechanism)
	if g.Trust != fl.Local || tiered {
		return fl.Guarantee{}, nil
	}
	g.Trust = fl.Shuffle // shuffling does not weaken a local guarantee
	a, ok := m.(fl.Amplifier)
	if !ok || g.Delta != 0 || !(delta > 0 && delta < 1) || r.MinReports < 2 {
		return g, nil
	}
	epsilon, err := a.Shuffled().Epsilon(r.MinReports, delta)
	g.Epsilon, g.Delta = epsilon, delta
	return g, err
}

// checkPeer returns nil if the other end of a connection is the shuffler that a round names, as far
// as the connection says who it is.
func checkPeer(from peer.Peer, shuffler string) error {
	info, ok := from.AuthInfo.(credentials.TLSInfo)
	if !ok {
		return nil
	}
	certificates := info.State.PeerCertificates
	if len(certificates) == 0 {
		return fl.Invalid("shuffler", shuffler, "must have a certificate")
	}
	if err := certificates[0].VerifyHostname(shuffler); err != nil {
		return fl.Invalid("shuffler", shuffler, "must be the party at the other end of the connection: %v", err)
	}
	return nil
}
