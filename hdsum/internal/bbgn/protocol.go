package bbgn

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/internal/sample"
)

const (
	// maxModulus keeps a+b within 64 bits and every decoded sum within an int64.
	maxModulus = 1 << 63

	// logWrap is -ln of the probability that the noise exceeds the slack: 2^-40.
	logWrap = 40 * math.Ln2

	// The samplers are made for η = ε/U in this range. A larger η is lowered to it,
	// which adds noise; a smaller one is refused.
	minEta, maxEta = 1e-12, 50
)

// Config describes one instance. All clients and the analyzer must agree on it.
type Config struct {
	Clients  int     // n >= 1, the clients whose noise and messages privacy counts on
	Capacity int     // the largest number of reports the modulus has room for; 0 means Clients
	Bound    int64   // U >= 1; inputs are 0, …, U
	Epsilon  float64 // of the guarantee, for replacing an input or setting it to 0
	Delta    float64 // of the guarantee, in (0, 1)
}

// Protocol is one instance with its modulus and number of messages. It is
// immutable and safe for concurrent use.
type Protocol struct {
	clients  int
	bound    int64
	messages int
	modulus  uint64
	slack    int64
	largest  uint64 // Capacity·U + T; larger residues stand for negative sums
	eta      float64
	share    sample.NegativeBinomial
}

// New returns the instance for c: modulus q = Capacity·U + 2T + 1 and the number
// of messages that [Messages] certifies. It returns a wrapped *fl.ParamError that
// names the field if c is out of range, if q would exceed 2^63, or if no number of
// messages is certified. Cost: one call of Messages.
func New(c Config) (_ *Protocol, err error) {
	defer prefix.Error(&err, "bbgn")
	c.Capacity = cmp.Or(c.Capacity, c.Clients)
	switch {
	case c.Clients < 1:
		return nil, fl.Invalid("clients", c.Clients, "must be at least 1")
	case c.Capacity < c.Clients:
		return nil, fl.Invalid("capacity", c.Capacity, "must be 0 or at least Clients = %d", c.Clients)
	case c.Bound < 1:
		return nil, fl.Invalid("bound", c.Bound, "must be at least 1")
	}
	if err := checkBudget(c.Epsilon, c.Delta); err != nil {
		return nil, err
	}
	p := &Protocol{clients: c.Clients, bound: c.Bound}
	p.eta = min(math.Nextafter(c.Epsilon/float64(c.Bound), 0), maxEta) // the quotient may have been rounded up
	if p.eta < minEta {
		return nil, fl.Invalid("epsilon", c.Epsilon, "must be above Bound·%g, with Bound = %d", minEta, c.Bound)
	}
	p.share = sample.NegativeBinomial{R: 1, Eta: p.eta}.Share(c.Clients)

	slack := noiseSlack(p.eta, c.Clients, c.Capacity)
	high, total := bits.Mul64(uint64(c.Capacity), uint64(c.Bound))
	if high != 0 || total >= maxModulus || !(slack < maxModulus/4) || total+2*uint64(slack)+1 > maxModulus {
		return nil, fl.Invalid("bound", c.Bound, "Capacity·Bound + 2T + 1 must be at most 2^63, with T = %.4g for Capacity = %d and Epsilon = %v",
			slack, c.Capacity, c.Epsilon)
	}
	p.slack = int64(slack)
	p.largest = total + uint64(slack)
	p.modulus = p.largest + uint64(slack) + 1

	m, err := messages(c.Clients, p.modulus, c.Epsilon, c.Delta)
	if err != nil {
		return nil, err
	}
	p.messages = m
	return p, nil
}

// noiseSlack returns T. For Capacity = Clients, P[|DLap(η)| > T] = 2p^{T+1}/(1+p)
// is at most 2^-40 when T >= ln(2·2^40)/η. More reports carry more noise: at most
// the noise of k = ⌈Capacity/Clients⌉ such variables. Each exceeds its part of the slack
// with probability at most 2^-40/k.
func noiseSlack(eta float64, clients, capacity int) float64 {
	k := float64((capacity-1)/clients + 1)
	return k * math.Ceil((math.Log(2*k)+logWrap)/eta)
}

// Clients returns n.
func (p *Protocol) Clients() int { return p.clients }

// Messages returns m, the number of messages of each client.
func (p *Protocol) Messages() int { return p.messages }

// Modulus returns q, at most 2^63. Messages are residues modulo q.
func (p *Protocol) Modulus() uint64 { return p.modulus }

// Slack returns T: sums from -T to Capacity·U + T are decoded without wrap-around.
// For Capacity = Clients it is ⌈(U/ε)·ln(2^41)⌉.
func (p *Protocol) Slack() int64 { return p.slack }

// MessageBits returns the bits of one message, ⌈log₂ q⌉.
func (p *Protocol) MessageBits() int { return bits.Len64(p.modulus - 1) }

// Noise returns the law of the noise in the sum of Clients reports, DLap(ε/U).
func (p *Protocol) Noise() sample.DiscreteLaplace { return sample.DiscreteLaplace{Eta: p.eta} }

// NoiseVariance returns the variance of Noise: the mean squared error of the sum
// of Clients reports, apart from wraps (probability 2^-40).
func (p *Protocol) NoiseVariance() float64 { return p.Noise().Variance() }

// Encode appends the m messages of a client with input x to dst. Any m−1 of them
// are independent and uniform modulo q, drawn by rejection. It returns dst as it
// was and a wrapped *fl.ParamError if x is not in {0, …, U}. Cost: O(m), no
// allocation if dst has room. The floating-point negative binomial sampler is the
// only part that is not exact.
func (p *Protocol) Encode(dst []uint64, x int64, rng *rand.Rand) ([]uint64, error) {
	if x < 0 || x > p.bound {
		return dst, fmt.Errorf("bbgn: %w", fl.Invalid("x", x, "must be in 0..%d", p.bound))
	}
	up, down := uint64(p.share.Rand(rng)), uint64(p.share.Rand(rng))
	last := p.Add(p.Add(uint64(x), up), p.negate(down))
	for range p.messages - 1 {
		s := rng.Uint64N(p.modulus)
		dst = append(dst, s)
		last = p.Add(last, p.negate(s))
	}
	return append(dst, last), nil
}

// Decode returns the noisy sum of the inputs, given the sum of all messages modulo
// q. It is exact if the true sum plus noise is in {−T, …, Capacity·U + T}.
func (p *Protocol) Decode(sum uint64) int64 {
	sum = p.reduce(sum)
	if sum > p.largest {
		return -int64(p.modulus - sum)
	}
	return int64(sum)
}

// Add returns a + b modulo q, for any a and b.
func (p *Protocol) Add(a, b uint64) uint64 {
	return p.reduce(p.reduce(a) + p.reduce(b)) // below 2^64, as q is at most 2^63
}

// negate returns −a modulo q.
func (p *Protocol) negate(a uint64) uint64 { return p.modulus - p.reduce(a) }

// reduce returns a modulo q. Residues, the usual case, cost no division.
func (p *Protocol) reduce(a uint64) uint64 {
	if a < p.modulus {
		return a
	}
	if a -= p.modulus; a < p.modulus {
		return a
	}
	return a % p.modulus
}
