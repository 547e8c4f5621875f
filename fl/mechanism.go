package fl

import "math/rand/v2"

// Mechanism turns many clients' gradients into one public mean. It is
// immutable and safe for concurrent use.
type Mechanism interface {
	// Encode is the client's half: it appends one report of grad (length
	// Round.Dim) to dst and returns the extended slice. It does not change grad. rng
	// supplies the private randomness; nil means a fresh NewRand. NaN, Inf and a wrong
	// length are *ParamErrors (wrapped or not), and on an error the result is dst as it
	// was. Every finite gradient is encoded, clipped where it is too long: a client that
	// sent no report would reveal something about its gradient.
	Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error)
	// NewAggregator returns an empty aggregator, the server's half.
	NewAggregator() Aggregator
	// Guarantee is what one report promises its sender.
	Guarantee() Guarantee
}

// Float32Mechanism is implemented by mechanisms that take gradients of float32, which most models
// have, without a copy of them in float64.
type Float32Mechanism interface {
	Mechanism
	// EncodeFloat32 is Encode. The same numbers and the same generator give the same report, so
	// that the law of a report is the same, too.
	EncodeFloat32(dst []byte, grad []float32, rng *rand.Rand) ([]byte, error)
}

// SeededMechanism is implemented by mechanisms whose reports name a public seed: of a hash function, or of a list of
// candidates. A report promises the same whatever its seed, as long as the seed depends on no gradient. Mechanism.Encode draws
// it. In a round with an IssuerKey the report's token assigns it, so that a client who lies cannot search for a
// seed that suits: see package server/admit.
type SeededMechanism interface {
	Mechanism
	// WithSeed returns the mechanism whose reports all have this seed. It has the optional interfaces of
	// the mechanism, and shares its memory: it costs next to nothing.
	WithSeed(seed uint32) Mechanism
	// SeedOf returns the seed of a report. The error wraps ErrBadReport. Other faults of a report are
	// for Aggregator.Add to find.
	SeedOf(report []byte) (uint32, error)
}

// ReportSizer is implemented by mechanisms whose reports all have one size.
type ReportSizer interface {
	// ReportBytes is the length of every report, in bytes.
	ReportBytes() int
}

// Amplifier is implemented by local mechanisms whose guarantee grows stronger
// when reports are shuffled.
type Amplifier interface {
	// Shuffled returns the guarantee of shuffled reports.
	Shuffled() Amplification
}

// Amplification bounds what the shuffled reports of n clients reveal about one of them
// (ReplaceOne, one report per client). The bound is proved and rounded up. It holds against
// a party that sees only the shuffled reports. n is in [2, MaxReports]; arguments out of
// range are errors.
type Amplification interface {
	// Epsilon returns an upper bound on the central ε at delta in (0, 1). It falls with n
	// and with delta and is never above the local ε.
	Epsilon(n int, delta float64) (float64, error)
	// Delta returns an upper bound on δ at a central ε, finite and at least 0. It falls
	// with n and with epsilon. It is the curve that composition needs.
	Delta(n int, epsilon float64) (float64, error)
}

// Adviser is implemented by mechanisms that notice when a round's parameters
// are allowed but poor.
type Adviser interface {
	// Advice returns one sentence per remark, most often none.
	Advice() []string
}

// Coster is implemented by mechanisms whose clients send many messages in one
// report.
type Coster interface {
	// Cost is what a client sends, in expectation, at most about.
	Cost() Cost
}

// Cost is the expected upload of one client.
type Cost struct {
	Messages float64 // in the sense of the shuffle model: each is unlinked from the others
	Bytes    float64 // of the report that holds them all
}

// TieredMechanism lets every client choose its own guarantee from a menu. Its Guarantee,
// and what Encode gives, is the strictest of them.
type TieredMechanism interface {
	Mechanism
	// Tiers is the menu, the strictest guarantee first.
	Tiers() []Guarantee
	// EncodeTier is Encode under the guarantee Tiers()[tier]. The choice is public: it
	// is a part of the report.
	EncodeTier(dst []byte, tier int, grad []float64, rng *rand.Rand) ([]byte, error)
}

// TierEstimate is the part of one tier in an estimate.
type TierEstimate struct {
	Guarantee Guarantee
	Reports   int64
	// Weight is the weight of the tier's mean in the combined one; the weights sum to 1.
	Weight float64
}
