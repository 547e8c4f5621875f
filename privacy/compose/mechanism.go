package compose

import (
	"math"

	"github.com/hushgrad/hushgrad/privacy"
)

// A mechanism has comparable values; equal values are the same mechanism.
type mechanism interface {
	// largest returns the loss beyond which there is at most tail of mass.
	largest(tail float64) (float64, error)
	// lattice returns the spacing of a grid that holds all losses, or 0.
	lattice() float64
	// discretise returns laws on the grid that dominate the mechanism and are dominated
	// by it.
	discretise(step, largest float64) (upper, lower masses, err error)
}

// A response is the pair of Kairouz, Oh and Viswanath that dominates all
// (epsilon, delta)-private mechanisms: randomized response with an error symbol.
type response struct{ epsilon, delta float64 }

func (r response) largest(float64) (float64, error) { return r.epsilon, nil }
func (r response) lattice() float64                 { return r.epsilon }

func (r response) discretise(step, _ float64) (upper, lower masses, err error) {
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

func (d discreteLaplace) largest(float64) (float64, error) { return d.eta * float64(d.shift), nil }
func (d discreteLaplace) lattice() float64                 { return d.eta }

// discretise uses that x has loss eta·(|x − shift| − |x|).
func (d discreteLaplace) discretise(step, _ float64) (upper, lower masses, err error) {
	var atoms []atom
	for x := (d.shift - 1) / 2; x > 0; x-- {
		atoms = append(atoms, atom{d.eta * float64(d.shift-2*x), math.Tanh(d.eta/2) * math.Exp(-d.eta*float64(x))})
	}
	atoms = append(atoms, atom{d.eta * float64(d.shift), 1 / (1 + math.Exp(-d.eta))})
	return spread(atoms, 0, step), merge(atoms, 0, step), nil
}

// A curved mechanism is known by its hockey-stick curve.
type curved struct{ curver }

type curver interface {
	// delta returns an upper bound on δ(epsilon), epsilon >= 0.
	delta(epsilon float64) (float64, error)
	// gap bounds by how much delta is above the curve that the lower bounds refer to.
	gap() float64
	// end returns a loss at which delta is 0, or beyond which it need not be known.
	end() float64
}

func (c curved) lattice() float64 { return 0 }

func (c curved) largest(tail float64) (float64, error) {
	lo, hi := 0.0, math.Min(1, c.end())
	for {
		delta, err := c.delta(hi)
		if err != nil {
			return 0, err
		}
		if delta <= tail || hi == c.end() {
			break
		}
		lo, hi = hi, math.Min(2*hi, c.end())
	}
	for hi-lo > 1e-3*hi {
		mid := lo + (hi-lo)/2
		delta, err := c.delta(mid)
		if err != nil {
			return 0, err
		}
		if delta <= tail {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}

func (c curved) discretise(step, largest float64) (upper, lower masses, err error) {
	points := make([]vertex, int(math.Ceil(largest/step))+1)
	for i := range points {
		loss := float64(i) * step
		delta, err := c.delta(loss)
		if err != nil {
			return masses{}, masses{}, err
		}
		if i > 0 { // curves do not rise
			delta = math.Min(delta, points[i-1].delta)
		}
		points[i] = vertex{loss, math.Min(1, delta)}
	}
	hull := symmetricHull(points)
	inner := innerHull(hull, c.gap())
	upper = spread(hullAtoms(hull, 16*ulp), hull[len(hull)-1].delta, step)
	lower = merge(hullAtoms(inner, 0), 0, step)
	return upper, lower, nil
}

// gaussian noise of standard deviation 1/mu per unit of sensitivity.
type gaussian struct{ mu float64 }

func (g gaussian) end() float64 { return maxLoss }

// delta adds gap: erfc has a relative error below 2 ulp, rounding its argument x costs
// another 4x²·ulp, and x²·erfc(x) < 0.3; the second term is never above the first.
func (g gaussian) delta(epsilon float64) (float64, error) {
	near := math.Erfc((epsilon/g.mu - g.mu/2) / math.Sqrt2)
	far := math.Erfc((epsilon/g.mu + g.mu/2) / math.Sqrt2)
	x := math.Max(1, math.Abs(epsilon/g.mu-g.mu/2)+g.mu)
	slack := 16 * ulp * (1 + x*x) * near
	return math.Max(0, near/2-math.Exp(epsilon)*far/2) + slack, nil
}

func (g gaussian) gap() float64 { return 160 * ulp * (1 + g.mu*g.mu) }

// A shuffled mechanism is covered by a blanket of privacy.NewBlanket.
type shuffled struct {
	epsilon                float64
	sparsity, slots, users int
}

func (s shuffled) end() float64 { return s.epsilon }
func (s shuffled) gap() float64 { return 0 }

func (s shuffled) delta(epsilon float64) (float64, error) {
	blanket, err := privacy.NewBlanket(s.epsilon, s.sparsity, s.slots)
	if err != nil {
		return 0, err
	}
	return blanket.Delta(s.users, epsilon)
}

// userCurve is used by address: two are the same only if one call of FromCurve made them.
type userCurve struct {
	curve      Curve
	maxEpsilon float64
}

func (u *userCurve) end() float64 { return u.maxEpsilon }
func (u *userCurve) gap() float64 { return 0 }
