package compose

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// Reports returns the loss of one report of m against those who see the shuffled
// reports of a round of so many users (replace-one). For a mechanism of the shuffle model
// that is its guarantee, for one with a bound on shuffling (fl.Amplifier) the bound, and
// for any other its local guarantee, which shuffling does not weaken. A mechanism without
// privacy is an error.
func Reports(m fl.Mechanism, users int, options Options) (*Distribution, error) {
	g := m.Guarantee()
	if g.Model == fl.NoPrivacy {
		return nil, fmt.Errorf("compose: %w", fl.Invalid("model", g.Model, "must be private"))
	}
	if amplifier, ok := m.(fl.Amplifier); ok {
		return FromCurve(func(epsilon float64) (float64, error) {
			return amplifier.CentralDelta(users, epsilon)
		}, g.Epsilon, options)
	}
	return Approximate(g.Epsilon, g.Delta, options)
}
