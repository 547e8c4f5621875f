package privacy

import (
	"context"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// Kind names the mechanism of an Event.
type Kind string

// The kinds and the fields of Event that they use.
const (
	KindPure            Kind = "pure"             // Epsilon
	KindApproximate     Kind = "approximate"      // Epsilon, Delta
	KindGaussian        Kind = "gaussian"         // Sigma
	KindDiscreteLaplace Kind = "discrete-laplace" // Eta, Shift
	KindShuffled        Kind = "shuffled"         // Epsilon, Sparsity, Slots, Clients
)

// Event is Count uses of one mechanism, as kept in a ledger. The parameters are as in
// the constructor for its Kind; fields of other kinds must be zero. A pure or approximate event
// has an Epsilon or a Delta above 0: without, it is taken for one whose budget was forgotten.
type Event struct {
	Kind     Kind    `json:"kind"`
	Epsilon  float64 `json:"epsilon,omitempty"`
	Delta    float64 `json:"delta,omitempty"`
	Sigma    float64 `json:"sigma,omitempty"`
	Eta      float64 `json:"eta,omitempty"`
	Shift    int     `json:"shift,omitempty"`
	Sparsity int     `json:"sparsity,omitempty"`
	Slots    int     `json:"slots,omitempty"`
	Clients  int     `json:"clients,omitempty"`
	Count    int     `json:"count"`
}

// Compose returns the composition of all events. There must be at least one. It ends with the
// error of ctx once that is done. Equal mechanisms are grouped, so that the cost depends on how
// many different ones there are.
func Compose(ctx context.Context, events []Event, options Options) (_ *Distribution, err error) {
	counts := make(map[Event]int)
	var order []Event
	for i, e := range events {
		if e.Count < 1 || e.Count > MaxCount-counts[e.kindOnly()] {
			return nil, invalidComposition(fmt.Sprintf("events[%d].count", i), e.Count, "must be at least 1, and all counts together at most %d", MaxCount)
		}
		if counts[e.kindOnly()] == 0 {
			order = append(order, e.kindOnly())
		}
		counts[e.kindOnly()] += e.Count
	}
	if len(order) == 0 {
		return nil, invalidComposition("events", "none", "must not be empty")
	}
	var parts []part
	for _, e := range order {
		m, err := e.mechanism()
		if err != nil {
			return nil, fmt.Errorf("compose: event %s: %w", e.Kind, err)
		}
		d, err := newDistribution(ctx, m, options)
		if err != nil {
			return nil, fmt.Errorf("compose: event %s: %w", e.Kind, err)
		}
		d.parts[0].count = counts[e]
		parts = append(parts, d.parts[0])
	}
	defer prefix.Error(&err, "compose")
	return assemble(ctx, parts)
}

// kindOnly returns the event without its count.
func (e Event) kindOnly() Event {
	e.Count = 0
	return e
}

// mechanism returns the mechanism of one use, for an event without a count.
func (e Event) mechanism() (m mechanism, err error) {
	used := Event{Kind: e.Kind, Epsilon: e.Epsilon}
	switch e.Kind {
	case KindPure:
		m, err = newBudget(e.Epsilon, 0)
	case KindApproximate:
		used.Delta = e.Delta
		m, err = newBudget(e.Epsilon, e.Delta)
	case KindGaussian:
		used = Event{Kind: e.Kind, Sigma: e.Sigma}
		m, err = newGaussian(e.Sigma)
	case KindDiscreteLaplace:
		used = Event{Kind: e.Kind, Eta: e.Eta, Shift: e.Shift}
		m, err = newDiscreteLaplace(e.Eta, e.Shift)
	case KindShuffled:
		used.Sparsity, used.Slots, used.Clients = e.Sparsity, e.Slots, e.Clients
		m, err = newShuffled(e.Epsilon, e.Sparsity, e.Slots, e.Clients)
	default:
		return nil, fl.Invalid("kind", string(e.Kind), "must be pure, approximate, gaussian, discrete-laplace or shuffled")
	}
	if err == nil && used != e {
		err = fl.Invalid("event", e, "must not set fields that its kind does not use")
	}
	return m, err
}

// newBudget is newResponse for an event. A mechanism that promises (0, 0) reveals nothing and
// needs no event, so a budget of zero is a mistake that would make every total too small.
func newBudget(epsilon, delta float64) (mechanism, error) {
	if epsilon == 0 && delta == 0 {
		return nil, fl.Invalid("epsilon", epsilon, "must be > 0, or delta must be")
	}
	return newResponse(epsilon, delta)
}
