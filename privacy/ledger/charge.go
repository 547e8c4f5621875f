package ledger

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/hushgrad/hushgrad/fl"
)

// maxText is the largest length of a purpose, round id, mechanism or receipt in bytes.
const maxText = 256

// Budget is the most that a client is ready to lose over its lifetime for one purpose, or
// what it has lost: (Epsilon, Delta)-differential privacy for the neighbours of Relation.
type Budget struct {
	// Epsilon is at least 0. +Inf also allows charges without privacy.
	Epsilon float64
	// Delta is in [0, 1).
	Delta float64
	// Relation says what the budget protects. Under fl.ReplaceOne only charges under
	// fl.ReplaceOne are accepted. Under fl.ZeroOut both are: the zero input is one of
	// those by which replace-one may replace, so that its guarantee is the stronger.
	Relation fl.Relation
	// Once allows a single report: a client then reports once in its life for the purpose, whatever is left of
	// Epsilon. It is false in what was spent.
	Once bool
}

func (b Budget) validate() error {
	switch {
	case !(b.Epsilon >= 0):
		return fl.Invalid("epsilon", b.Epsilon, "must be at least 0, or +Inf")
	case !(b.Delta >= 0 && b.Delta < 1):
		return fl.Invalid("delta", b.Delta, "must be in [0, 1)")
	case b.Relation != fl.ReplaceOne && b.Relation != fl.ZeroOut:
		return fl.Invalid("relation", b.Relation, "must be %s or %s", fl.ReplaceOne, fl.ZeroOut)
	}
	return nil
}

// Charge is what one report costs its sender.
type Charge struct {
	// Purpose names the budget that pays.
	Purpose string
	// Round is the digest of the round's description, see fl.Round.Digest.
	Round [32]byte
	// RoundID and Mechanism are for the record.
	RoundID, Mechanism string
	// Guarantee is the mechanism's, for this one report, or the guarantee of the tier which the client
	// chose from the menu of an fl.TieredMechanism, whose own is the strictest: Epsilon is in [0, fl.MaxEpsilon],
	// and +Inf exactly without privacy; Delta is in [0, 1). A local guarantee is always
	// under fl.ReplaceOne. Without privacy the relation does not matter. RealNumbers is
	// false: a client that accepts such a guarantee says so by charging it without the mark.
	Guarantee fl.Guarantee
	// Central is what the report promises against a party that sees only what a whole round gives
	// together, for example a server behind a shuffler that the client trusts. It is of the same
	// form, with a Trust that is fl.Trust.Central. The zero Guarantee means that there is none:
	// then Guarantee is what holds against that party, too.
	Central fl.Guarantee
}

// central is what the charge costs in a central budget.
func (c Charge) central() fl.Guarantee {
	if c.Central == (fl.Guarantee{}) {
		return c.Guarantee
	}
	return c.Central
}

func (c Charge) validate() error {
	if c.Round == [32]byte{} {
		return fl.Invalid("round", "all zeros", "must be the digest of a round")
	}
	if err := checkGuarantee(c.Guarantee); err != nil {
		return err
	}
	if c.Central != (fl.Guarantee{}) {
		if !c.Central.Trust.Central() {
			return fmt.Errorf("central guarantee: %w", fl.Invalid("trust", c.Central.Trust, "must be %s or %s", fl.Shuffle, fl.TwoServers))
		}
		if err := checkGuarantee(c.Central); err != nil {
			return fmt.Errorf("central guarantee: %w", err)
		}
	}
	for _, text := range []struct{ name, value string }{
		{"purpose", c.Purpose}, {"round_id", c.RoundID}, {"mechanism", c.Mechanism},
	} {
		if err := checkText(text.name, text.value); err != nil {
			return err
		}
	}
	return nil
}

func checkGuarantee(g fl.Guarantee) error {
	private := g.Trust != fl.NoPrivacy
	switch {
	case !g.Trust.Known():
		return fl.Invalid("trust", g.Trust, "must be known")
	case !private && !math.IsInf(g.Epsilon, 1):
		return fl.Invalid("epsilon", g.Epsilon, "must be +Inf without privacy")
	case private && !(g.Epsilon >= 0 && g.Epsilon <= fl.MaxEpsilon):
		return fl.Invalid("epsilon", g.Epsilon, "must be in [0, %d]", fl.MaxEpsilon)
	case !(g.Delta >= 0 && g.Delta < 1):
		return fl.Invalid("delta", g.Delta, "must be in [0, 1)")
	case !(g.Sigma >= 0 && g.Sigma <= maxSigma) || g.Sigma > 0 && !private:
		return fl.Invalid("sigma", g.Sigma, "must be in [0, %g], and 0 without Gaussian noise", maxSigma)
	case g.RealNumbers:
		return fl.Invalid("real_numbers", g.RealNumbers, "must hold for the floating-point code, too")
	case g.Trust == fl.Local && g.Relation != fl.ReplaceOne:
		return fl.Invalid("relation", g.Relation, "must be %s, as for every local guarantee", fl.ReplaceOne)
	case g.Relation != fl.ReplaceOne && g.Relation != fl.ZeroOut && (private || g.Relation != 0):
		return fl.Invalid("relation", g.Relation, "must be %s or %s", fl.ReplaceOne, fl.ZeroOut)
	}
	return nil
}

// maxSigma is the largest noise multiplier that package privacy composes.
const maxSigma = 1e4

func checkText(name, value string) error {
	if len(value) < 1 || len(value) > maxText || !utf8.ValidString(value) {
		return fl.Invalid(name, value, "must be 1 to %d bytes of UTF-8", maxText)
	}
	return nil
}

// covers says whether a guarantee can be accounted for under the relation of the budget.
func (b Budget) covers(g fl.Guarantee) bool {
	return g.Trust == fl.NoPrivacy || b.Relation == fl.ZeroOut || g.Relation == fl.ReplaceOne
}
