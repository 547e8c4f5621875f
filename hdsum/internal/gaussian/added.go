package gaussian

import (
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/rounded"
)

// Parameters of SharesName that have each client add noise before it shares its vector.
const (
	// ParamOwnEpsilon is the ε of a report by the client's own noise, at Round.Delta, against everybody, both servers together included.
	ParamOwnEpsilon = "own_epsilon"
	// ParamHonestEpsilon is the ε, at Round.Delta, against either server if ParamHonestReports of the counted reports are of honest clients.
	ParamHonestEpsilon = "honest_epsilon"
	ParamHonestReports = "honest_reports"
)

// shareParams are the parameters of SharesName that are not read with the records.
var shareParams = []string{ParamProof, ParamOwnEpsilon, ParamHonestEpsilon, ParamHonestReports}

// added is the noise that each client of two servers adds to its integers before it shares them.
type added struct {
	noise
	epsilon float64
	// honest is how many clients' noises, together with one server's, promise epsilon. 0: one client's alone does.
	honest int64
	sigma  float64 // of what promises epsilon, at most, in units
}

// newAdded returns the noise of a round's clients beside a server's, and nil where they add none.
func newAdded(r fl.Round, n *integers, server noise) (*added, error) {
	own, honest := r.Params.Has(ParamOwnEpsilon), r.Params.Has(ParamHonestEpsilon)
	switch {
	case r.Params.Has(ParamHonestReports) && !honest:
		return nil, fl.Invalid(ParamHonestReports, "there", "must not be there without %s", ParamHonestEpsilon)
	case !own && !honest:
		return nil, nil
	case own && honest:
		return nil, fl.Invalid(ParamHonestEpsilon, "there", "must not be there with %s: clients add one noise", ParamOwnEpsilon)
	}
	name := ParamOwnEpsilon
	if honest {
		name = ParamHonestEpsilon
	}
	epsilon, err := r.Params.Real(name)
	switch {
	case err != nil:
		return nil, err
	case r.Params.Has(ParamProof):
		return nil, fl.Invalid(name, epsilon, "must not be there with %s: a vector with noise is not short", ParamProof)
	case honest:
		return newHonest(r, n, server, epsilon)
	case r.Relation != fl.ReplaceOne:
		return nil, fl.Invalid("relation", r.Relation, "must be %s with %s: the clients' own noise is local", fl.ReplaceOne, ParamOwnEpsilon)
	case !(epsilon >= r.Epsilon && epsilon <= fl.MaxEpsilon):
		return nil, fl.Invalid(ParamOwnEpsilon, epsilon, "must be in [epsilon = %g, %d]: with less than the servers' ε, %s needs no second server", r.Epsilon, fl.MaxEpsilon, SiteName)
	}
	r.Epsilon = epsilon
	alone, err := newNoise(r, n.rotation.PaddedDim(), n.sensitivity(r.Relation))
	return &added{noise: alone, epsilon: epsilon, sigma: alone.sigma}, err
}

// newHonest returns the noise by which ParamHonestReports clients and one server together keep a smaller ε.
func newHonest(r fl.Round, n *integers, server noise, epsilon float64) (*added, error) {
	count, err := r.Params.Int(ParamHonestReports)
	switch {
	case err != nil:
		return nil, err
	case !(epsilon > 0 && epsilon < r.Epsilon):
		return nil, fl.Invalid(ParamHonestEpsilon, epsilon, "must be in (0, epsilon = %g): the servers' noise alone promises epsilon", r.Epsilon)
	case count < 1 || count > r.MinReports:
		return nil, fl.Invalid(ParamHonestReports, count, "must be in [1, min reports = %d]: the servers release a sum of so many", r.MinReports)
	}
	whole, err := rounded.Sigma(epsilon, r.Delta*(1-cut), n.sensitivity(r.Relation))
	if err != nil {
		return nil, fl.Invalid(ParamHonestEpsilon, epsilon, "must be larger: %v", err)
	}
	missing := math.Sqrt((whole-server.sigma)*(whole+server.sigma)) * (1 + 0x1p-40)
	if !(missing >= whole/leastParts) { // the server's σ is on a grid, and may be enough
		return nil, fl.Invalid(ParamHonestEpsilon, epsilon, "must be smaller: the servers' noise for epsilon = %g is nearly enough for it", r.Epsilon)
	}
	dim := n.rotation.PaddedDim()
	one, err := newNoiseOf(ParamHonestEpsilon, epsilon, dim, missing/math.Sqrt(float64(count)))
	if err != nil {
		return nil, err
	}
	a := &added{noise: one, epsilon: epsilon, honest: int64(count)}
	a.sigma = math.Hypot(server.sigma, math.Sqrt(float64(count))*one.sigma) * (1 - 0x1p-40)
	if spare := (1 + math.Exp(epsilon)) * float64(dim) * a.distance(server); a.smooth(server) && !(r.Delta*cut > spare) {
		return nil, fl.Invalid("delta", r.Delta, "must be above %.3g, 2^20 times the distance of %d clients' noise from the normal law", spare/cut, count)
	}
	return a, nil
}

// smooth says that a fractional part of a client's noise is uniform but for 2^-113, given the sum with the server's.
func (a *added) smooth(server noise) bool { return a.honest == 0 || a.given(server) >= 2 }

// given is the standard deviation of a client's noise, given its sum with the server's.
func (a *added) given(server noise) float64 {
	return server.sigma * a.noise.sigma / math.Hypot(server.sigma, a.noise.sigma)
}

// distance bounds the total variation between what a server and the honest clients add to a coordinate, and a normal variable less as many
// uniform ones, rounded down. See the package's comment.
func (a *added) distance(server noise) float64 {
	r, uneven := a.given(server), 0.
	for h := 1.; h <= 3; h++ { // the others are below 2^-1000 of the first
		uneven += math.Exp(-2 * math.Pi * math.Pi * h * h * r * r)
	}
	return (float64(a.honest)*(rounded.Distance+uneven) + rounded.Distance) * (1 + 0x1p-40)
}

// add adds the noise of one client to its integers.
func (a *added) add(x []int64, rng *rand.Rand) {
	if a == nil {
		return
	}
	for i := range x {
		x[i] += a.draw(rng)
	}
}

// of returns the variance of a coordinate, the most but with probability 2^-40, and the mean rounding down, of the noise of a number of clients.
func (a *added) of(clients int64) (variance, most, down float64) {
	if a == nil {
		return 0, 0, 0
	}
	n := float64(clients)
	return n * a.variance(), math.Ceil(12*math.Sqrt(n)*a.noise.sigma) + n, n / 2
}
