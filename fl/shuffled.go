package fl

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// ShuffledPolicy is what a client demands of a round whose shuffler it trusts: not to show the
// server who sent a report or when. The names and the keys are pins. The client has them
// from the parties themselves, not from the round.
type ShuffledPolicy struct {
	// Shufflers are the names of the shufflers that the client trusts, see Round.Shuffler.
	Shufflers []string
	// SealKeys are the SHA-256 of the keys of the servers that may open reports, see
	// Round.SealKey. Nobody else reads them on their way, the shuffler included.
	SealKeys [][sha256.Size]byte
	// ShareKeys are the SHA-256 of the keys of the shufflers that may open second shares, see
	// Round.ShareKey. A round of a mechanism for two servers needs one.
	ShareKeys [][sha256.Size]byte
	// MaxEpsilonLocal bounds the local ε of a report. That is what holds when the shuffler
	// and the server work together. Policy.MaxDelta bounds the local δ.
	MaxEpsilonLocal float64
	// MaxEpsilon and MaxDelta bound the central guarantee of a round of Round.MinReports
	// clients. It holds against a server that sees only what the shuffler forwards. The central
	// ε is stated at MaxDelta; 0 accepts no central guarantee.
	MaxEpsilon, MaxDelta float64
}

// CheckShuffler returns nil when the policy pins the shuffler and the keys of the round, and
// otherwise an error that wraps ErrPolicy and names the one that it does not pin. A guarantee
// that trusts a shuffler, or one of two servers, is worth nothing without these pins.
func (p Policy) CheckShuffler(r Round) error {
	var pins ShuffledPolicy
	if p.Shuffled != nil {
		pins = *p.Shuffled
	}
	switch {
	case r.Shuffler != "" && len(pins.Shufflers) == 0:
		return short("shuffler", r.Shuffler, "must be one that the policy pins, and it pins none: name the shuffler and the server's key (Policy.Shuffled; --shuffler and --seal-key; hushgrad-shuffler and hushgrad-seal-key at a node of Flower)")
	case r.Shuffler == "" || !slices.Contains(pins.Shufflers, r.Shuffler):
		return short("shuffler", r.Shuffler, "must be one that the policy pins: %q", strings.Join(pins.Shufflers, ", "))
	case !slices.Contains(pins.SealKeys, sha256.Sum256(r.SealKey)):
		return short("seal_key", fmt.Sprintf("%x", sha256.Sum256(r.SealKey)), "must have a fingerprint that the policy pins: %q", fmt.Sprintf("%x", pins.SealKeys))
	case len(r.ShareKey) > 0 && !slices.Contains(pins.ShareKeys, sha256.Sum256(r.ShareKey)):
		return short("share_key", fmt.Sprintf("%x", sha256.Sum256(r.ShareKey)), "must have a fingerprint that the policy pins: %q", fmt.Sprintf("%x", pins.ShareKeys))
	}
	return nil
}

// CheckShuffled is Check for a report that goes through a shuffler which the policy pins. local
// is the guarantee of the report alone, central the guarantee of a shuffled round of
// Round.MinReports reports. A round whose shuffler is not pinned does not meet it, whatever central says: then
// Check on the local guarantee decides.
func (p Policy) CheckShuffled(r Round, local, central Guarantee) error {
	if err := p.CheckShuffler(r); err != nil {
		return err
	}
	if !central.Trust.Central() {
		return short("trust", central.Trust, "must be %s or %s for a central guarantee", Shuffle, TwoServers)
	}
	if err := checkSecond(r); central.Trust == TwoServers && err != nil {
		return err
	}
	alone, together := p, p
	alone.MaxEpsilon = p.Shuffled.MaxEpsilonLocal
	if err := alone.Check(r, local); err != nil {
		return fmt.Errorf("local guarantee: %w", err)
	}
	together.MaxEpsilon, together.MaxDelta, together.TrustShuffler = p.Shuffled.MaxEpsilon, p.Shuffled.MaxDelta, true
	if err := together.Check(r, central); err != nil {
		return fmt.Errorf("central guarantee: %w", err)
	}
	return nil
}

// checkSecond returns nil for a round whose second shares are sealed. CheckShuffler says to whom.
func checkSecond(r Round) error {
	if len(r.ShareKey) == 0 {
		return short("share_key", "nothing", "must be there: otherwise whoever is on the way to the shuffler reads second shares")
	}
	return nil
}
