package fl

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Trust says whom a client must trust for a guarantee to hold.
type Trust uint8

const (
	// NoPrivacy: the report is the gradient.
	NoPrivacy Trust = 1
	// Local: against every party that sees the report, the server included.
	Local Trust = 2
	// Shuffle: against a party that sees only the shuffled reports of all clients of
	// the round. The client trusts the party that shuffles.
	Shuffle Trust = 3
	// TwoServers: against either of two servers and everybody who sees what the two release, as long as the other
	// server follows the protocol. The server may make up reports, choose who counts, and work together with all
	// other clients. It does not hold against both servers together, nor against a party that sees both shares of a report.
	TwoServers Trust = 4
)

func (t Trust) String() string {
	switch t {
	case NoPrivacy:
		return "none"
	case Local:
		return "local"
	case Shuffle:
		return "shuffle"
	case TwoServers:
		return "two-servers"
	}
	return fmt.Sprintf("Trust(%d)", uint8(t))
}

// Known says whether t is one of the constants.
func (t Trust) Known() bool { return t == NoPrivacy || t == Local || t.Central() }

// Central says whether a guarantee holds only for what the reports of a whole round give
// together, so that it rests on Round.MinReports clients and on parties that are trusted.
func (t Trust) Central() bool { return t == Shuffle || t == TwoServers }

// Relation says which pairs of data sets a guarantee calls neighbours. No
// guarantee in this module is stated without one.
type Relation uint8

const (
	// ReplaceOne: one client's input is replaced by any other input; the number
	// of clients is public. Local privacy is always of this kind.
	ReplaceOne Relation = 1
	// ZeroOut: one client's input is replaced by the zero input; the number of
	// clients is public. Weaker than ReplaceOne by up to a factor 2 in ε.
	ZeroOut Relation = 2
)

func (r Relation) String() string {
	switch r {
	case ReplaceOne:
		return "replace-one"
	case ZeroOut:
		return "zero-out"
	}
	return fmt.Sprintf("Relation(%d)", uint8(r))
}

// Guarantee is what one report promises its sender: (ε, δ)-differential
// privacy under the given trust, for the given neighbours. A client that sends k
// reports composes k guarantees.
type Guarantee struct {
	Trust    Trust
	Epsilon  float64 // +Inf when Trust is NoPrivacy
	Delta    float64
	Relation Relation
	// RealNumbers says that the proof is about real numbers only. The floating-point code
	// does not keep it: the values that a report can have depend on the gradient, and a
	// party that knows which ones they are may learn more than Epsilon says.
	RealNumbers bool
	// Sigma is the noise multiplier where the report is hidden by Gaussian noise: the noise's standard deviation over the L2
	// sensitivity under Relation, rounded down. (Epsilon, Delta) is then a point of the Gaussian mechanism's curve, and many
	// reports compose by it. The noise's law is within 2^-71 of the exact one in total variation. 0: another mechanism.
	Sigma float64
}

func (g Guarantee) String() string {
	if g.Trust == NoPrivacy {
		return "no privacy"
	}
	text := fmt.Sprintf("(ε=%s, δ=%s)-DP, %s model, ", FormatUp(g.Epsilon, 4), FormatUp(g.Delta, 3), g.Trust)
	if g.Trust == TwoServers {
		text += "against either server alone, "
	}
	text += g.Relation.String()
	if g.RealNumbers {
		text += ", for real numbers only: the code does not keep it"
	}
	return text
}

// Policy is what a client demands before it encodes. The zero Policy accepts
// nothing, because a budget of 0 allows no report.
type Policy struct {
	// MaxEpsilon and MaxDelta bound the budget of one report. MaxEpsilon +Inf
	// also accepts mechanisms without privacy.
	MaxEpsilon, MaxDelta float64
	// Shuffled, if not nil, also accepts rounds of the shufflers that it pins, see
	// CheckShuffled. Every other round counts as one without a shuffler.
	Shuffled *ShuffledPolicy
	// MinReports is the smallest acceptable Round.MinReports.
	MinReports int
	// MaxDim is the largest acceptable Round.Dim. It bounds the memory that a round can make
	// a client use: a mechanism may take 40 bytes for each coordinate. 0 means DefaultMaxDim.
	MaxDim int
	// TrustShuffler accepts guarantees of the shuffle model. They do not hold against
	// a party that sees the messages of a single client together.
	TrustShuffler bool
	// Relation is the weakest acceptable relation: ZeroOut also accepts ReplaceOne,
	// which protects more. 0 means ReplaceOne.
	Relation Relation
	// AcceptRealNumbers accepts guarantees with RealNumbers. The code does not keep them.
	AcceptRealNumbers bool
	// Mechanisms are the names of the acceptable mechanisms. nil accepts all whose guarantee has
	// another trust than TwoServers: such a mechanism is accepted only by its name. Check does
	// not look at who the two servers are, see CheckShuffler.
	Mechanisms []string
	// Features is what Round.Features must be; empty accepts any.
	Features string
}

// DefaultMaxDim is the largest Round.Dim that a policy accepts unless it says otherwise.
const DefaultMaxDim = 1 << 24

// short is the error for a round that does not meet a policy.
func short(name string, got any, rule string, args ...any) error {
	return fmt.Errorf("fl: %w: %w", ErrPolicy, Invalid(name, got, rule, args...))
}

// CheckRound is the part of Check that needs no guarantee. Call it before Open, which may
// take memory in proportion to Round.Dim.
func (p Policy) CheckRound(r Round) error {
	switch most := cmp.Or(p.MaxDim, DefaultMaxDim); {
	case r.Dim > most:
		return short("dim", r.Dim, "must be at most %d", most)
	case p.Mechanisms != nil && !slices.Contains(p.Mechanisms, r.Mechanism):
		return short("mechanism", r.Mechanism, "must be one of %s", strings.Join(p.Mechanisms, ", "))
	case p.Features != "" && r.Features != p.Features:
		return short("features", r.Features, "must be %s", p.Features)
	case r.MinReports < p.MinReports:
		return short("min_reports", r.MinReports, "must be at least %d", p.MinReports)
	}
	return nil
}

// Check returns nil when the round meets the policy, and otherwise an error
// that wraps ErrPolicy and names what fell short.
func (p Policy) Check(r Round, g Guarantee) error {
	switch {
	case !g.Trust.Known():
		return short("trust", g.Trust, "must be known")
	case g.Trust == NoPrivacy && !math.IsInf(p.MaxEpsilon, 1):
		return short("trust", g.Trust, "must be private: epsilon at most %g", p.MaxEpsilon)
	case g.Trust == Shuffle && !p.TrustShuffler:
		return short("trust", g.Trust, "must hold without trust in a shuffler")
	case g.Trust == TwoServers && !slices.Contains(p.Mechanisms, r.Mechanism):
		return short("mechanism", r.Mechanism, "must be named among the policy's mechanisms: its ε holds against either of two servers, and not against both")
	case g.RealNumbers && !p.AcceptRealNumbers:
		return short("real_numbers", g.RealNumbers, "must hold for the floating-point code, too")
	case !(g.Epsilon <= p.MaxEpsilon):
		return short("epsilon", g.Epsilon, "must be at most %g", p.MaxEpsilon)
	case !(g.Delta <= p.MaxDelta):
		return short("delta", g.Delta, "must be at most %g", p.MaxDelta)
	case g.Trust != NoPrivacy && g.Relation != ReplaceOne && (p.Relation != ZeroOut || g.Relation != ZeroOut):
		return short("relation", g.Relation, "must be %s", ReplaceOne)
	}
	return p.CheckRound(r)
}
