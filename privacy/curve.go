package privacy

import (
	"context"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// Curve is the hockey-stick curve of one mechanism, or an upper bound on it. It returns δ
// such that the mechanism is (epsilon, δ)-differentially private in both directions, for
// any finite epsilon >= 0.
type Curve func(epsilon float64) (delta float64, err error)

// FromCurve returns the loss of a mechanism with the given curve, which is called for
// epsilon in [0, maxEpsilon], maxEpsilon in (0, 600]. What it returns last is the
// probability of an infinite loss. The curve need not be smooth or convex: upper bounds
// hold for whatever is below it. Lower bounds refer to the convex curves that pass through
// the corners of the convex hull of its values on the grid.
//
// Two distributions count as the same mechanism only if they come from one call. FromCurve ends
// with the error of ctx once that is done, after the call of curve in progress.
func FromCurve(ctx context.Context, curve Curve, maxEpsilon float64, options Options) (*Distribution, error) {
	m, err := newGivenCurve(curve, maxEpsilon)
	return distributionOf(ctx, m, err, options)
}

// Gaussian returns the loss of Gaussian noise with standard deviation sigma times the
// Euclidean sensitivity; sigma in [0.05, 10^4].
func Gaussian(ctx context.Context, sigma float64, options Options) (*Distribution, error) {
	m, err := newGaussian(sigma)
	return distributionOf(ctx, m, err, options)
}

// Shuffled returns the loss of one round in which the given number of clients send reports
// of an s-sparse mechanism with t slots, and a shuffler mixes them. It uses the blanket
// privacy.NewBlanket(epsilon, s, t). clients in [2, 10^9]. Lower bounds refer to the blanket.
func Shuffled(ctx context.Context, epsilon float64, sparsity, slots, clients int, options Options) (*Distribution, error) {
	m, err := newShuffled(epsilon, sparsity, slots, clients)
	return distributionOf(ctx, m, err, options)
}

// Reports returns the loss of one report of m in a round with the given number of clients
// (replace-one). The attacker sees the shuffled reports of all of them. The loss comes from
// the mechanism's guarantee in the shuffle model, from its bound on shuffling if it is an
// fl.Amplifier, and otherwise from its local guarantee. Shuffling does not weaken a local
// guarantee.
//
// The clients of an fl.TieredMechanism choose their guarantee. The loss covers every choice: it is
// the loss of the largest ε and the largest δ on the menu. A report shows its tier, so no bound on
// shuffling is used.
//
// A mechanism without privacy is an error, and so is a guarantee under zero-out, or one for
// real numbers only (fl.Guarantee.RealNumbers). A caller that wants to compose what the latter
// says wraps the mechanism in one whose guarantee has no such mark. Reports ends with the error
// of ctx once that is done.
func Reports(ctx context.Context, m fl.Mechanism, clients int, options Options) (*Distribution, error) {
	if g := m.Guarantee(); g.Sigma > 0 {
		if _, err := reportLoss(m, clients); err != nil {
			return nil, fmt.Errorf("compose: %w", err)
		}
		return Compose(ctx, GaussianReports(g.Sigma, 1), options)
	}
	loss, err := reportLoss(m, clients)
	return distributionOf(ctx, loss, err, options)
}

// GaussianReports are the events of count reports whose fl.Guarantee has the noise multiplier sigma. The noise's law is within
// t = 2^-71 of the exact one, which costs (1 + e^ε)·t of δ for each report: the second event pays for that up to ε = fl.MaxEpsilon.
// A larger ε is no guarantee.
func GaussianReports(sigma float64, count int) []Event {
	t := 0x1p-71
	return []Event{{Kind: KindGaussian, Sigma: sigma, Count: count}, {Kind: KindApproximate, Delta: (1 + math.Exp(fl.MaxEpsilon)) * t * (1 + 0x1p-40), Count: count}}
}

// CheckReports returns an error where Reports refuses the mechanism or the number of clients,
// before anything is composed. Cost: O(1).
func CheckReports(m fl.Mechanism, clients int) error {
	if _, err := reportLoss(m, clients); err != nil {
		return fmt.Errorf("compose: %w", err)
	}
	return nil
}

// reportLoss is the loss of one report of m.
func reportLoss(m fl.Mechanism, clients int) (mechanism, error) {
	guarantees := []fl.Guarantee{m.Guarantee()}
	menu, tiered := m.(fl.TieredMechanism)
	if tiered {
		guarantees = menu.Tiers()
	}
	epsilon, delta, err := weakest(guarantees)
	if err != nil {
		return nil, err
	}
	if g := m.Guarantee(); g.Sigma > 0 && !tiered {
		return newGaussian(g.Sigma)
	}
	amplifier, amplified := m.(fl.Amplifier)
	if !amplified || tiered {
		return newResponse(epsilon, delta)
	}
	curve := shuffledCurve(amplifier.Shuffled(), clients)
	if _, err := curve(epsilon); err != nil { // beyond the local ε there is nothing to compute
		return nil, err
	}
	return newGivenCurve(curve, epsilon)
}

// shuffledCurve is the curve of a bound for a number of clients. A coarse blanket's curve is an
// upper bound, too; what it adds is small beside the error of the composition.
func shuffledCurve(a fl.Amplification, clients int) Curve {
	if blanket, ok := a.(*Blanket); ok {
		return blanket.Coarse().Curve(clients)
	}
	return func(epsilon float64) (float64, error) { return a.Delta(clients, epsilon) }
}

// weakest returns the smallest ε and δ that cover all guarantees. Each must hold under
// replace-one against a party that sees what all reports of a round give together, so that
// the numbers can be compared.
func weakest(guarantees []fl.Guarantee) (epsilon, delta float64, err error) {
	if len(guarantees) == 0 {
		return 0, 0, fl.Invalid("tiers", "none", "must not be empty")
	}
	for _, g := range guarantees {
		switch {
		case !g.Trust.Known() || g.Trust == fl.NoPrivacy:
			return 0, 0, fl.Invalid("trust", g.Trust, "must be private")
		case g.Relation != fl.ReplaceOne:
			return 0, 0, fl.Invalid("relation", g.Relation, "must be %s", fl.ReplaceOne)
		case g.RealNumbers:
			return 0, 0, fl.Invalid("real_numbers", g.RealNumbers, "must hold for the floating-point code, too")
		}
		epsilon, delta = math.Max(epsilon, g.Epsilon), math.Max(delta, g.Delta)
	}
	return epsilon, delta, nil
}

// A curved mechanism is known by its hockey-stick curve.
type curved struct{ curver }

type curver interface {
	// curve returns an upper bound on δ(epsilon), epsilon >= 0, for many calls one after another.
	curve() (Curve, error)
	// gap bounds by how much the curve is above the curve that the lower bounds refer to.
	gap() float64
	// end returns a loss at which the curve is 0, or beyond which it need not be known.
	end() float64
}

func (c curved) lattice() float64 { return 0 }

// until is the curve until ctx is done. One point of it can take a tenth of a second.
func (c curved) until(ctx context.Context) (Curve, error) {
	curve, err := c.curve()
	return func(epsilon float64) (float64, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return curve(epsilon)
	}, err
}

func (c curved) largest(ctx context.Context, tail float64) (float64, error) {
	curve, err := c.until(ctx)
	if err != nil {
		return 0, err
	}
	lo, hi := 0.0, math.Min(1, c.end())
	for {
		delta, err := curve(hi)
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
		delta, err := curve(mid)
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

func (c curved) discretise(ctx context.Context, step, largest float64) (upper, lower masses, err error) {
	curve, err := c.until(ctx)
	if err != nil {
		return masses{}, masses{}, err
	}
	points := make([]vertex, int(math.Ceil(largest/step))+1)
	for i := range points {
		loss := float64(i) * step
		delta, err := curve(loss)
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

func newGaussian(sigma float64) (mechanism, error) {
	if err := within("sigma", sigma, 0.05, 1e4); err != nil {
		return nil, err
	}
	return curved{gaussian{1 / sigma}}, nil
}

func (g gaussian) end() float64 { return maxLoss }

func (g gaussian) curve() (Curve, error) { return g.delta, nil }

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
	epsilon                  float64
	sparsity, slots, clients int
}

func newShuffled(epsilon float64, sparsity, slots, clients int) (mechanism, error) {
	if _, err := NewBlanket(epsilon, sparsity, slots); err != nil {
		return nil, err
	}
	if clients < 2 || clients > 1_000_000_000 {
		return nil, fl.Invalid("clients", clients, "must be in [2, 10^9]")
	}
	return curved{shuffled{epsilon, sparsity, slots, clients}}, nil
}

func (s shuffled) end() float64 { return s.epsilon }
func (s shuffled) gap() float64 { return 0 }

func (s shuffled) curve() (Curve, error) {
	blanket, err := NewBlanket(s.epsilon, s.sparsity, s.slots)
	if err != nil {
		return nil, err
	}
	return Curve(blanket.Curve(s.clients)), nil
}

// givenCurve is used by address: two are the same only if one call of FromCurve made them.
type givenCurve struct {
	given      Curve
	maxEpsilon float64
}

func newGivenCurve(curve Curve, maxEpsilon float64) (mechanism, error) {
	if curve == nil {
		return nil, fl.Invalid("curve", "nil", "must not be nil")
	}
	if !(maxEpsilon > 0 && maxEpsilon <= maxLoss) {
		return nil, fl.Invalid("maxEpsilon", maxEpsilon, "must be in (0, %v]", maxLoss)
	}
	return curved{&givenCurve{curve, maxEpsilon}}, nil
}

func (g *givenCurve) end() float64 { return g.maxEpsilon }
func (g *givenCurve) gap() float64 { return 0 }

func (g *givenCurve) curve() (Curve, error) { return g.delta, nil }

func (g *givenCurve) delta(epsilon float64) (float64, error) {
	delta, err := g.given(epsilon)
	if err != nil {
		return 0, fmt.Errorf("curve at %v: %w", epsilon, err)
	}
	if !(delta >= 0 && delta <= 1) {
		return 0, fl.Invalid(fmt.Sprintf("curve at %v", epsilon), delta, "must be in [0, 1]")
	}
	return delta, nil
}
