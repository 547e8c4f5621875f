package fl

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Model says against whom a guarantee holds.
type Model uint8

const (
	// NoPrivacy: the report is the gradient.
	NoPrivacy Model = 1
	// Local: against everybody, the server included, who sees the report.
	Local Model = 2
	// Shuffle: against everybody who sees only the shuffled reports of all
	// clients of the round. Whoever shuffles is trusted.
	Shuffle Model = 3
)

func (m Model) String() string {
	switch m {
	case NoPrivacy:
		return "none"
	case Local:
		return "local"
	case Shuffle:
		return "shuffle"
	}
	return fmt.Sprintf("Model(%d)", uint8(m))
}

// Guarantee is what one report promises its sender: (ε, δ)-differential
// privacy in the given model, for the given neighbours. A client that sends k
// reports composes k guarantees.
type Guarantee struct {
	Model    Model
	Epsilon  float64 // +Inf when Model is NoPrivacy
	Delta    float64
	Relation Relation
}

func (g Guarantee) String() string {
	if g.Model == NoPrivacy {
		return "no privacy"
	}
	return fmt.Sprintf("(ε=%.4g, δ=%.3g)-DP, %s model, %s", g.Epsilon, g.Delta, g.Model, g.Relation)
}

// Policy is what a client demands before it encodes. The zero Policy accepts
// nothing, because a budget of 0 allows no report.
type Policy struct {
	// MaxEpsilon and MaxDelta bound the budget of one report. MaxEpsilon +Inf
	// also accepts mechanisms without privacy.
	MaxEpsilon, MaxDelta float64
	// MinReports is the smallest acceptable Round.MinReports.
	MinReports int
	// TrustShuffler accepts guarantees of the shuffle model, which hold only
	// against those who never see a single client's messages together.
	TrustShuffler bool
	// Relation is the weakest acceptable relation: ZeroOut also accepts ReplaceOne,
	// which protects more. 0 means ReplaceOne.
	Relation Relation
	// Mechanisms are the names of the acceptable mechanisms; nil accepts all.
	Mechanisms []string
}

// Check returns nil when the round meets the policy, and otherwise an error
// that wraps ErrPolicy and names what fell short.
func (p Policy) Check(r Round, g Guarantee) error {
	short := func(name string, got any, rule string, args ...any) error {
		return fmt.Errorf("fl: %w: %w", ErrPolicy, Invalid(name, got, rule, args...))
	}
	switch {
	case g.Model != NoPrivacy && g.Model != Local && g.Model != Shuffle:
		return short("model", g.Model, "must be known")
	case g.Model == NoPrivacy && !math.IsInf(p.MaxEpsilon, 1):
		return short("model", g.Model, "must be private: epsilon at most %g", p.MaxEpsilon)
	case g.Model == Shuffle && !p.TrustShuffler:
		return short("model", g.Model, "must hold without trust in a shuffler")
	case !(g.Epsilon <= p.MaxEpsilon):
		return short("epsilon", g.Epsilon, "must be at most %g", p.MaxEpsilon)
	case !(g.Delta <= p.MaxDelta):
		return short("delta", g.Delta, "must be at most %g", p.MaxDelta)
	case g.Model != NoPrivacy && g.Relation != ReplaceOne && (p.Relation != ZeroOut || g.Relation != ZeroOut):
		return short("relation", g.Relation, "must be %s", ReplaceOne)
	case p.Mechanisms != nil && !slices.Contains(p.Mechanisms, r.Mechanism):
		return short("mechanism", r.Mechanism, "must be one of %s", strings.Join(p.Mechanisms, ", "))
	case r.MinReports < p.MinReports:
		return short("min_reports", r.MinReports, "must be at least %d", p.MinReports)
	}
	return nil
}
