package fl

import (
	"cmp"
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

// ColumnLister is implemented by factories of mechanisms that estimate more than the mean.
type ColumnLister interface {
	// Columns returns the names that Round.Columns may ask for. Open may still refuse one
	// that the round's parameters rule out.
	Columns() []string
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

// Columns returns what a mechanism estimates beside the mean, or nil for the mean alone
// and for names that are not registered.
func Columns(mechanism string) []string {
	f, err := factoryOf(Round{Mechanism: mechanism})
	if err != nil {
		return nil
	}
	return columns(f)
}

func columns(f Factory) []string {
	if l, ok := f.(ColumnLister); ok {
		return l.Columns()
	}
	return nil
}

// Open validates r and returns the mechanism it describes.
func Open(r Round) (Mechanism, error) {
	f, err := check(r)
	if err != nil {
		return nil, err
	}
	m, err := f.Open(r)
	if err != nil {
		return nil, fmt.Errorf("fl: round %q: %w", r.ID, err)
	}
	return m, nil
}

// Complete fills the parameters that r's mechanism chooses by itself and returns the
// complete round with the mechanism it describes. A zero Relation becomes ReplaceOne.
func Complete(r Round) (Round, Mechanism, error) {
	r.Relation = cmp.Or(r.Relation, ReplaceOne)
	f, err := check(r)
	if err != nil {
		return Round{}, nil, err
	}
	if c, ok := f.(Completer); ok {
		if r, err = c.Complete(r); err != nil {
			return Round{}, nil, fmt.Errorf("fl: round %q: %w", r.ID, err)
		}
	}
	m, err := Open(r)
	if err != nil {
		return Round{}, nil, err
	}
	return r, m, nil
}

// check validates what holds for every mechanism and returns the round's factory.
func check(r Round) (Factory, error) {
	f, err := factoryOf(r)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(r.Validate(), checkColumns(r, columns(f))); err != nil {
		return nil, fmt.Errorf("fl: round %q: %w", r.ID, err)
	}
	return f, nil
}

func checkColumns(r Round, offered []string) error {
	for _, name := range r.Columns {
		if !slices.Contains(offered, name) {
			return Invalid("columns", name, "must be among what %q estimates beside the mean: %s",
				r.Mechanism, cmp.Or(strings.Join(offered, ", "), "nothing"))
		}
	}
	return nil
}

func factoryOf(r Round) (Factory, error) {
	registry.RLock()
	defer registry.RUnlock()
	switch fs := registry.factories[r.Mechanism]; len(fs) {
	case 1:
		return fs[0], nil
	case 0:
		return nil, fmt.Errorf("fl: round %q: %w", r.ID, unregistered(r.Mechanism))
	default:
		return nil, fmt.Errorf("fl: round %q: %w", r.ID,
			Invalid("mechanism", r.Mechanism, "must be registered once, is registered %d times", len(fs)))
	}
}

// unregistered is the error for a name that is not registered. The registry is locked.
func unregistered(mechanism string) error {
	if len(registry.factories) == 0 {
		return Invalid("mechanism", mechanism, `no mechanism is registered: import one, for example _ "github.com/hushgrad/hushgrad/coco"`)
	}
	return Invalid("mechanism", mechanism, "must be one of %s", strings.Join(slices.Sorted(maps.Keys(registry.factories)), ", "))
}
