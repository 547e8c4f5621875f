package privunit

import "math"

// order holds expectations of the r largest of k independent standard normal variables.
type order struct {
	first  float64 // E Σ z
	second float64 // E Σ (z² − 1)
	third  float64 // E Σ (z³ − 3z)
}

// newOrder returns the expectations for 1 ≤ r < k. A variable z is among the r largest with
// probability F(z), where F is the probability that fewer than r of the other k − 1 are above z.
// So the sum of a function f has the expectation k·∫ f·φ·F. Integration by parts leaves F's
// derivative. With Q the normal tail,
//
//	g(z) = k!/((r−1)!·(k−1−r)!) · φ(z)² · Q(z)^(r−1) · (1−Q(z))^(k−1−r),
//
// and the three expectations are ∫ g, ∫ z·g and ∫ (z²−1)·g. The trapezoidal rule on a smooth
// function that vanishes at both ends is off by less than 10^-10. O(√k).
func newOrder(k, r int) order {
	lgamma := func(n int) float64 {
		v, _ := math.Lgamma(float64(n))
		return v
	}
	constant := lgamma(k+1) - lgamma(r) - lgamma(k-r) - math.Log(2*math.Pi)
	// g is about as wide as an order statistic varies: 1.2/√k or more.
	const end = 10
	steps := math.Ceil(2 * end / min(0.05, 0.9/math.Sqrt(float64(k))))
	var o order
	for i := range int(steps) + 1 {
		z := end * (2*float64(i)/steps - 1)
		above, below := math.Erfc(z/math.Sqrt2)/2, math.Erfc(-z/math.Sqrt2)/2
		g := math.Exp(constant - z*z + float64(r-1)*math.Log(above) + float64(k-1-r)*math.Log(below))
		o.first += g
		o.second += z * g
		o.third += (z*z - 1) * g
	}
	step := 2 * end / steps
	return order{step * o.first, step * o.second, step * o.third}
}
