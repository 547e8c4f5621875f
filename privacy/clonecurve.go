package privacy

import "math"

// cloneClosedForm is Theorem 3.1 of Feldman, McMillan and Talwar, FOCS 2021: for
// ε <= log(n/(16·log(2/δ)))
//
//	ε_c = log(1 + (e^ε−1)/(e^ε+1)·(8√(e^ε·log(4/δ))/√n + 8e^ε/n)).
func cloneClosedForm(epsilon float64) Comparison {
	const name = "clones, closed form"
	e := math.Exp(epsilon)
	return newComparison(name, "Feldman, McMillan and Talwar, FOCS 2021, Theorem 3.1", Proved,
		func(n int, delta float64) (float64, error) {
			users := float64(n)
			if !(e*16*math.Log(2/delta) <= users) {
				return 0, outOfRange(name, "epsilon", epsilon, "at most log(n/(16·log(2/δ)))")
			}
			sum := 8*math.Sqrt(e*math.Log(4/delta)/users) + 8*e/users
			return math.Min(epsilon, math.Log1p(math.Tanh(epsilon/2)*sum)), nil
		})
}

// cloneNumeric is Clone.
func cloneNumeric(epsilon float64) (Comparison, error) {
	c, err := NewClone(epsilon)
	if err != nil {
		return Comparison{}, err
	}
	return newComparison("clones, numeric", "Feldman, McMillan and Talwar, FOCS 2021, Theorem 3.2", Proved, c.Epsilon), nil
}

// strongerClone is the pair with α = 1/(e^ε+1), the largest there is: then no message is
// neutral, as in Blanket with s = 1 and t = 2. For general randomizers the reduction to it
// has been withdrawn; see the package documentation.
func strongerClone(epsilon float64) (Comparison, error) {
	b, err := NewBlanket(epsilon, 1, 2)
	if err != nil {
		return Comparison{}, err
	}
	return newComparison("stronger clones", "Feldman, McMillan and Talwar, SODA 2023 (arXiv 2208.04591)", Conjectural,
		func(n int, delta float64) (float64, error) { return b.root(n, delta), nil }), nil
}
