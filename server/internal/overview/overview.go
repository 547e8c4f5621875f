// Package overview has the types by which a server tells a dashboard how it stands. Use it in the two.
// Start with [Overview].
package overview

import (
	"math"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
)

// Overview is how a server stands, for those who watch it. Nothing in it is of a single client: no
// report, no address, no token, no key of a batch. The counts of open rounds are exact, so that
// whoever sees two overviews knows how many reports came in between.
type Overview struct {
	Started time.Time
	Ready   error   // nil, or why the server should get no calls
	Rounds  []Round // those that the server keeps, oldest first
	// Kinds are all rounds that the server ever opened, forgotten ones included, by what they
	// promise. Unknown is the number of rounds that are missing there: rounds whose description cannot
	// be read any more, or of more than 256 kinds.
	Kinds   []Kind
	Unknown int
	Totals  Totals
	Models  []Model  // the newest 16 that were published since the start, and the one before; oldest first
	Series  []Series // what the training run has published, by name
	Shards  []Shard  // of a cluster, nil elsewhere
	// Clients, Operator and Shuffler are the open connections on the listeners.
	Clients, Operator, Shuffler int64
}

// Round is how a round stands.
type Round struct {
	Round   fl.Round
	Kind    int // index in Overview.Kinds, −1 for none
	State   service.RoundState
	Closing bool // the operator waits for the shuffler
	Reports int64
	Opened  time.Time
	Ended   time.Time // zero while the round is open
	// Worth is nil without an estimate, where its error is not known, and for rounds that had ended
	// when the server was started.
	Worth *Worth
}

// Worth says how an estimated mean compares with its own error.
type Worth struct {
	// NoiseNorm is the Euclidean norm of the error, see fl.Estimate.
	NoiseNorm float64
	// SignalToNoise is the Euclidean norm of the mean, without what the error adds to it, over
	// NoiseNorm. Below 1 the mean is below the noise: its error is larger than itself.
	SignalToNoise float64
	// Suspects is the number of coordinates at which clients lie, see fl.Estimate.
	Suspects int
}

// Kind is a number of rounds that promise their clients the same.
type Kind struct {
	// Round describes them all. Its ID, PublicSeed, Deadline, TargetReports, IssuerKey and
	// OuterIssuerKey are no round's.
	Round fl.Round
	Count int
}

// Totals are what the server has counted since it was started.
type Totals struct {
	Accepted, Duplicates int64            // reports
	Refused              map[string]int64 // batches of reports, by the gRPC code of the answer
	Rejected             map[string]int64 // sealed reports that do not count, by reason: sealed, token, spent or report
}

// Model is a model that was published.
type Model struct {
	Version   uint64
	Format    string
	Bytes     int64
	Published time.Time // zero if that was before the server was started
}

// Series is what a training run has published under one name.
type Series struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"` // by round
}

// Point is one number of a training run.
type Point struct {
	Round  int     `json:"round"` // of the run, from 1
	Value  float64 `json:"value"`
	StdErr float64 `json:"std_err"` // of Value; 0 where none is known
}

// Shard is how one part of a cluster stands, see package server's Shard.
type Shard struct {
	Number   int
	Holder   string
	Reports  int64
	Rejected int64
	Snapshot time.Time
	Waiting  int64
}

// WorthOf says how the mean of an estimate compares with its error. It returns nil where no error is
// known, or none is there.
func WorthOf(e *fl.Estimate) *Worth {
	if e == nil || !(e.NoiseNorm > 0) || math.IsInf(e.NoiseNorm, 0) {
		return nil
	}
	squares := 0.
	for _, x := range e.Mean().Value {
		squares += x * x
	}
	// E|mean + error|² is |mean|² + NoiseNorm².
	signal := math.Sqrt(math.Max(0, squares-e.NoiseNorm*e.NoiseNorm))
	return &Worth{NoiseNorm: e.NoiseNorm, SignalToNoise: signal / e.NoiseNorm, Suspects: len(e.Suspects)}
}
