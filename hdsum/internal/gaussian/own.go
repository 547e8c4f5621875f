package gaussian

import (
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// ParamOwnEpsilon is the parameter of SharesName that has each client add noise of its own: the ε of its report, at Round.Delta,
// against everybody, both servers together included.
const ParamOwnEpsilon = "own_epsilon"

// own is the noise that each client of two servers adds to its integers before it shares them.
type own struct {
	noise
	epsilon float64
}

// newOwn returns the own noise of a round's clients, and nil where they add none.
func newOwn(r fl.Round, n *integers) (*own, error) {
	if !r.Params.Has(ParamOwnEpsilon) {
		return nil, nil
	}
	epsilon, err := r.Params.Real(ParamOwnEpsilon)
	switch {
	case err != nil:
		return nil, err
	case r.Params.Has(ParamProof):
		return nil, fl.Invalid(ParamOwnEpsilon, epsilon, "must not be there with %s: a vector with noise is not short", ParamProof)
	case r.Relation != fl.ReplaceOne:
		return nil, fl.Invalid("relation", r.Relation, "must be %s with %s: the clients' own noise is local", fl.ReplaceOne, ParamOwnEpsilon)
	case !(epsilon >= r.Epsilon && epsilon <= fl.MaxEpsilon):
		return nil, fl.Invalid(ParamOwnEpsilon, epsilon, "must be in [epsilon = %g, %d]: with less than the servers' ε, %s needs no second server", r.Epsilon, fl.MaxEpsilon, SiteName)
	}
	r.Epsilon = epsilon
	added, err := newNoise(r, n.rotation.PaddedDim(), n.sensitivity(r.Relation))
	return &own{noise: added, epsilon: epsilon}, err
}

// add adds the noise of one client to its integers.
func (o *own) add(x []int64, rng *rand.Rand) {
	if o == nil {
		return
	}
	for i := range x {
		x[i] += o.draw(rng)
	}
}

// of returns the variance of a coordinate, the most but with probability 2^-40, and the mean rounding down, of the noise of a number of clients.
func (o *own) of(clients int64) (variance, most, down float64) {
	if o == nil {
		return 0, 0, 0
	}
	n := float64(clients)
	return n * o.variance(), math.Ceil(12*math.Sqrt(n)*o.sigma) + n, n / 2
}
