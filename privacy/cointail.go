package privacy

import (
	"math"

	"github.com/hushgrad/hushgrad/internal/binomial"
)

// coinTail follows the upper tail of the number of heads in k fair coin tosses,
// A ~ Binomial(k, ½), from an integer threshold b with k/2 <= b <= k+1.
type coinTail struct {
	k, b   int
	point  float64 // P[A = b]
	mass   float64 // P[A >= b]
	excess float64 // E[(A − b)_+]
	age    int     // moves of one toss since the last anchor
	most   float64 // the largest mass since then
}

// farAnchorEvery is binomial.AnchorEvery for tails in which one point carries a sixteenth of the mass or more.
const farAnchorEvery = 4

// moveTo sets the threshold to b and the number of tosses to k. A move of one toss and a few
// thresholds costs O(1) where one point carries less than half of the mass; any other is computed
// anew. Further out the fraction below converges at once.
//
// On the way, absolute errors of mass and excess add up. They stay small beside both: the mass does
// not fall below half of the largest, and the excess is at least P[A > b], so at least half of the
// mass. The errors of points weigh most where points carry much of the mass. There the way is shorter.
func (c *coinTail) moveTo(k, b int) {
	const far = 4
	every := binomial.AnchorEvery
	if c.point*16 >= c.mass {
		every = farAnchorEvery
	}
	if k != c.k+1 || b-c.b > far || c.b-b > far || b >= k || c.age >= every || !c.steady() {
		c.anchor(k, b)
		return
	}
	c.age++
	c.toss()
	c.most = max(c.most, c.mass)
	for c.b < b {
		c.raise()
	}
	for c.b > b {
		c.lower()
	}
	if !c.steady() {
		c.anchor(k, b)
	}
}

// steady says that the tail is near enough to its anchor, and that moves may go on from here.
func (c *coinTail) steady() bool { return c.point*2 < c.mass && c.mass*2 >= c.most }

// toss adds one coin: A' = A + 1 with probability ½.
func (c *coinTail) toss() {
	below := c.point * float64(c.b) / float64(c.k-c.b+1) // P[A = b−1]
	c.excess += c.mass / 2
	c.mass += below / 2
	c.point = (c.point + below) / 2
	c.k++
}

func (c *coinTail) raise() {
	c.mass -= c.point
	c.excess -= c.mass
	c.point *= float64(c.k-c.b) / float64(c.b+1)
	c.b++
}

func (c *coinTail) lower() {
	c.point *= float64(c.b) / float64(c.k-c.b+1)
	c.excess += c.mass
	c.mass += c.point
	c.b--
}

// anchor computes the tail from the point probability and the continued fraction
// of the incomplete beta function in the form of DiDonato and Morris (ACM TOMS 18,
// 1992, Algorithm 708): with x = ½ and b >= k/2 every term is positive, and
//
//	P[A >= b] = (b/2)·P[A = b] / (c0 + f),    E[(A−b)_+] = P[A >= b]·(f + (k−b)/(2(b+1)))
//
// for c0 = b(b − k/2 + ½)/(b+1) and f the rest of the fraction. The second identity
// is E[(A−b)_+] = (b/2)·P[A = b] − (b − k/2)·P[A >= b] with its cancellation done by hand.
func (c *coinTail) anchor(k, b int) {
	*c = coinTail{k: k, b: b}
	if b > k {
		return
	}
	if b == 0 { // no coins
		c.point, c.mass = 1, 1
		return
	}
	c.point = binomial.PMF(b, k, 0.5, 0.5)
	x, n := float64(b), float64(k)
	f := betaFraction(x, n)
	c.mass = c.point * (x / 2) / (x*(x-n/2+0.5)/(x+1) + f)
	c.excess = c.mass * (f + (n-x)/(2*(x+1)))
	c.most = c.mass
}

// betaFraction evaluates f = a1/(c1 + a2/(c2 + ...)) of anchor by the modified
// Lentz method, to full precision. It needs O(1) steps in the tail and up to
// O(√n) at the centre; it ends by itself after n−b+1 steps, where a vanishes.
func betaFraction(b, n float64) float64 {
	other := n - b + 1
	numerator := func(m float64) float64 {
		d := b + 2*m - 1
		return (b + m - 1) * (n + m) * m * (other - m) / (4 * d * d)
	}
	denominator := func(m float64) float64 {
		return m + m*(other-m)/(2*(b+2*m-1)) + (b+m)*(b-n/2+0.5+1.5*m)/(b+2*m+1)
	}
	f := numerator(1) / denominator(1)
	if f == 0 {
		return 0
	}
	c, d := math.Inf(1), 1/denominator(1)
	for m := 2.0; m < other; m++ {
		a, e := numerator(m), denominator(m)
		d = 1 / (e + a*d)
		c = e + a/c
		step := c * d
		f *= step
		if math.Abs(step-1) < 0x1p-52 {
			break
		}
	}
	return f
}
