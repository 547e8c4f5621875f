package fl

import (
	"encoding"
	"math/rand/v2"
)

// Mechanism turns many clients' gradients into one public mean. It is
// immutable and safe for concurrent use.
type Mechanism interface {
	// Encode is the client's half: it appends one report of grad (length
	// Round.Dim) to dst and returns the extended slice. rng supplies the private
	// randomness, see NewRand. NaN, Inf and a wrong length are errors.
	Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error)
	// NewAggregator returns an empty aggregator, the server's half.
	NewAggregator() Aggregator
	// Guarantee is what one report promises its sender.
	Guarantee() Guarantee
}

// Aggregator sums reports. It is not safe for concurrent use: give every
// goroutine its own and Merge them.
type Aggregator interface {
	// Add counts one report. It returns an error wrapping ErrBadReport, and
	// changes nothing, when the bytes are not a report of this round.
	Add(report []byte) error
	// Merge adds what other counted; other stays as it is. Both must come from
	// the same Round.
	Merge(other Aggregator) error
	// Estimate decodes what was counted; it may be called again later. Before
	// the first report it returns an error wrapping ErrNoReports.
	Estimate() (*Estimate, error)
	// The binary form is a snapshot to store or to send to another machine.
	// UnmarshalBinary replaces the state of an aggregator of the same Round.
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// ReportSizer is implemented by mechanisms whose reports all have one size.
type ReportSizer interface {
	// ReportBytes is the length of every report, in bytes.
	ReportBytes() int
}

// BatchAdder is implemented by aggregators that take many reports at once more
// cheaply than one by one, all of them or none.
type BatchAdder interface {
	// AddBatch counts all reports, or none and returns a *BatchError. It must not
	// panic halfway: what it had counted by then would stay.
	AddBatch(reports [][]byte) error
}

// Amplifier is implemented by local mechanisms whose guarantee grows stronger
// when reports are shuffled.
type Amplifier interface {
	// Central returns an upper bound on the ε with which n shuffled reports
	// (ReplaceOne, one per client, the client's own included) are (ε, delta)-
	// differentially private.
	Central(n int, delta float64) (float64, error)
	// CentralDelta returns an upper bound on the δ with which they are
	// (epsilon, δ)-differentially private: the curve that composition needs.
	CentralDelta(n int, epsilon float64) (float64, error)
}

// Adviser is implemented by mechanisms that can tell when a round's parameters
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

// SparseMechanism is a Mechanism over sparse ternary vectors, for clients that
// ternarize by a rule of their own.
type SparseMechanism interface {
	Mechanism
	ReportSizer
	Amplifier
	// EncodeTernary appends one report of x, which must have exactly the
	// round's sparsity.
	EncodeTernary(dst []byte, x Ternary, rng *rand.Rand) ([]byte, error)
}

// SparseAggregator tells more about sparse ternary vectors than their mean. Both
// methods return a *ParamError (wrapped) when the reports of the round tell the
// mean only.
type SparseAggregator interface {
	Aggregator
	// Support estimates, for every coordinate, the fraction of clients whose
	// ternary vector is non-zero there.
	Support() (*Series, error)
	// Frequencies estimates the fractions of clients with +1 and with −1.
	Frequencies() (plus, minus *Series, err error)
}
