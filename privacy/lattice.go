package privacy

import (
	"context"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// Pure returns the loss of an epsilon-differentially private mechanism, whatever it is;
// epsilon in [0, 100].
func Pure(epsilon float64, options Options) (*Distribution, error) {
	return Approximate(epsilon, 0, options)
}

// Approximate returns the loss of an (epsilon, delta)-differentially private mechanism,
// whatever it is: the loss of randomized response with an error symbol (Kairouz, Oh and
// Viswanath, ICML 2015). epsilon in [0, 100], delta in [0, 1).
func Approximate(epsilon, delta float64, options Options) (*Distribution, error) {
	m, err := newResponse(epsilon, delta)
	return distributionOf(context.Background(), m, err, options)
}

// DiscreteLaplace returns the loss of integer noise x with probability proportional to
// e^{−eta·|x|} on a query of sensitivity shift; eta in [10^-6, 100], shift in
// [1, 10^6], eta·shift at most 100. It covers all smaller shifts.
func DiscreteLaplace(eta float64, shift int, options Options) (*Distribution, error) {
	m, err := newDiscreteLaplace(eta, shift)
	return distributionOf(context.Background(), m, err, options)
}

// A response is the pair of Kairouz, Oh and Viswanath that dominates all
// (epsilon, delta)-private mechanisms: randomized response with an error symbol.
type response struct{ epsilon, delta float64 }

func newResponse(epsilon, delta float64) (mechanism, error) {
	if err := within("epsilon", epsilon, 0, 100); err != nil {
		return nil, err
	}
	if !(delta >= 0 && delta < 1) {
		return nil, fl.Invalid("delta", delta, "must be in [0, 1)")
	}
	return response{epsilon, delta}, nil
}

func (r response) lattice() float64 { return r.epsilon }

func (r response) largest(context.Context, float64) (float64, error) { return r.epsilon, nil }

func (r response) discretise(_ context.Context, step, _ float64) (upper, lower masses, err error) {
	var atoms []atom
	if r.epsilon > 0 {
		atoms = []atom{{r.epsilon, (1 - r.delta) / (1 + math.Exp(-r.epsilon))}}
	}
	return spread(atoms, r.delta, step), merge(atoms, r.delta, step), nil
}

// A discreteLaplace law has masses proportional to e^{−eta·|x|} on the integers.
type discreteLaplace struct {
	eta   float64
	shift int
}

func newDiscreteLaplace(eta float64, shift int) (mechanism, error) {
	if err := within("eta", eta, 1e-6, 100); err != nil {
		return nil, err
	}
	if shift < 1 || shift > 1_000_000 || eta*float64(shift) > 100 {
		return nil, fl.Invalid("shift", shift, "must be in [1, 10^6] and at most 100/eta = %v", 100/eta)
	}
	return discreteLaplace{eta, shift}, nil
}

func (d discreteLaplace) lattice() float64 { return d.eta }

func (d discreteLaplace) largest(context.Context, float64) (float64, error) {
	return d.eta * float64(d.shift), nil
}

// discretise uses that x has loss eta·(|x − shift| − |x|).
func (d discreteLaplace) discretise(_ context.Context, step, _ float64) (upper, lower masses, err error) {
	var atoms []atom
	for x := (d.shift - 1) / 2; x > 0; x-- {
		atoms = append(atoms, atom{d.eta * float64(d.shift-2*x), math.Tanh(d.eta/2) * math.Exp(-d.eta*float64(x))})
	}
	atoms = append(atoms, atom{d.eta * float64(d.shift), 1 / (1 + math.Exp(-d.eta))})
	return spread(atoms, 0, step), merge(atoms, 0, step), nil
}
