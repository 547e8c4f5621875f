package compose

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// Kind names the mechanism of an Event.
type Kind string

// The kinds and the fields of Event that they use.
const (
	KindPure            Kind = "pure"             // Epsilon
	KindApproximate     Kind = "approximate"      // Epsilon, Delta
	KindGaussian        Kind = "gaussian"         // Sigma
	KindDiscreteLaplace Kind = "discrete-laplace" // Eta, Shift
	KindShuffled        Kind = "shuffled"         // Epsilon, Sparsity, Slots, Users
)

// Event is Count uses of one mechanism, as kept in a ledger. The parameters are those of
// the constructor for its Kind; fields of other kinds must be zero.
type Event struct {
	Kind     Kind    `json:"kind"`
	Epsilon  float64 `json:"epsilon,omitempty"`
	Delta    float64 `json:"delta,omitempty"`
	Sigma    float64 `json:"sigma,omitempty"`
	Eta      float64 `json:"eta,omitempty"`
	Shift    int     `json:"shift,omitempty"`
	Sparsity int     `json:"sparsity,omitempty"`
	Slots    int     `json:"slots,omitempty"`
	Users    int     `json:"users,omitempty"`
	Count    int     `json:"count"`
}

// Compose returns the composition of all events, of which there must be at least one.
// Equal mechanisms are grouped, so that the cost depends on how many different ones there
// are.
func Compose(events []Event, options Options) (*Distribution, error) {
	counts := make(map[Event]int)
	var order []Event
	for i, e := range events {
		if e.Count < 1 || e.Count > MaxCount-counts[e.kindOnly()] {
			return nil, fmt.Errorf("compose: %w", fl.Invalid(fmt.Sprintf("events[%d].count", i), e.Count, "must be at least 1, and all counts together at most %d", MaxCount))
		}
		if counts[e.kindOnly()] == 0 {
			order = append(order, e.kindOnly())
		}
		counts[e.kindOnly()] += e.Count
	}
	if len(order) == 0 {
		return nil, fmt.Errorf("compose: %w", fl.Invalid("events", "none", "must not be empty"))
	}
	var parts []part
	for _, e := range order {
		d, err := e.distribution(options)
		if err != nil {
			return nil, fmt.Errorf("compose: event %s: %w", e.Kind, err)
		}
		d.parts[0].count = counts[e]
		parts = append(parts, d.parts[0])
	}
	composed, err := assemble(parts)
	if err != nil {
		return nil, fmt.Errorf("compose: %w", err)
	}
	return composed, nil
}

// kindOnly returns the event without its count.
func (e Event) kindOnly() Event {
	e.Count = 0
	return e
}

// distribution returns that of one use, for an event without a count.
func (e Event) distribution(options Options) (*Distribution, error) {
	used := Event{Kind: e.Kind, Epsilon: e.Epsilon}
	var d *Distribution
	var err error
	switch e.Kind {
	case KindPure:
		d, err = Pure(e.Epsilon, options)
	case KindApproximate:
		used.Delta = e.Delta
		d, err = Approximate(e.Epsilon, e.Delta, options)
	case KindGaussian:
		used = Event{Kind: e.Kind, Sigma: e.Sigma}
		d, err = Gaussian(e.Sigma, options)
	case KindDiscreteLaplace:
		used = Event{Kind: e.Kind, Eta: e.Eta, Shift: e.Shift}
		d, err = DiscreteLaplace(e.Eta, e.Shift, options)
	case KindShuffled:
		used.Sparsity, used.Slots, used.Users = e.Sparsity, e.Slots, e.Users
		d, err = Shuffled(e.Epsilon, e.Sparsity, e.Slots, e.Users, options)
	default:
		return nil, fl.Invalid("kind", string(e.Kind), "must be pure, approximate, gaussian, discrete-laplace or shuffled")
	}
	if err == nil && used != e {
		err = fl.Invalid("event", e, "must not set fields that its kind does not use")
	}
	return d, err
}
