package fl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Factory builds a mechanism from a round.
type Factory interface {
	// Open returns the mechanism that r describes. It returns a *ParamError
	// (wrapped or not) when r lacks a parameter or breaks a rule. r has passed
	// Round.Validate.
	Open(r Round) (Mechanism, error)
}

// Completer is implemented by factories that can choose parameters.
type Completer interface {
	// Complete returns r with every parameter filled that it leaves open, chosen
	// from public quantities only.
	Complete(r Round) (Round, error)
}

var registry = struct {
	sync.RWMutex
	factories map[string][]Factory
}{factories: map[string][]Factory{}}

// Register makes a mechanism available under a name; call it from an init
// function. A name registered twice is ambiguous, and Open refuses it.
func Register(name string, f Factory) {
	registry.Lock()
	defer registry.Unlock()
	registry.factories[name] = append(registry.factories[name], f)
}

// Mechanisms returns the registered names, sorted.
func Mechanisms() []string {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Sorted(maps.Keys(registry.factories))
}

// Open validates r and returns the mechanism it describes.
func Open(r Round) (Mechanism, error) {
	f, err := factoryOf(r)
	if err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("fl: round %q: %w", r.ID, err)
	}
	m, err := f.Open(r)
	if err != nil {
		return nil, fmt.Errorf("fl: round %q: %w", r.ID, err)
	}
	return m, nil
}

// Complete returns r with the parameters filled that its mechanism chooses by
// itself, and checks the result. A zero Relation becomes ReplaceOne.
func Complete(r Round) (Round, error) {
	f, err := factoryOf(r)
	if err != nil {
		return Round{}, err
	}
	if r.Relation == 0 {
		r.Relation = ReplaceOne
	}
	if err := r.Validate(); err != nil {
		return Round{}, fmt.Errorf("fl: round %q: %w", r.ID, err)
	}
	if c, ok := f.(Completer); ok {
		if r, err = c.Complete(r); err != nil {
			return Round{}, fmt.Errorf("fl: round %q: %w", r.ID, err)
		}
	}
	if _, err := Open(r); err != nil {
		return Round{}, err
	}
	return r, nil
}

func factoryOf(r Round) (Factory, error) {
	registry.RLock()
	defer registry.RUnlock()
	switch fs := registry.factories[r.Mechanism]; len(fs) {
	case 1:
		return fs[0], nil
	case 0:
		return nil, fmt.Errorf("fl: round %q: %w", r.ID,
			Invalid("mechanism", r.Mechanism, "must be one of %s", strings.Join(slices.Sorted(maps.Keys(registry.factories)), ", ")))
	default:
		return nil, fmt.Errorf("fl: round %q: %w", r.ID,
			Invalid("mechanism", r.Mechanism, "must be registered once, is registered %d times", len(fs)))
	}
}
