package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

// Counters count the sealed reports of rounds in other processes, in the place of a server. Package
// server/jetstream has a cluster's counters. A server with counters has rounds with a shuffler only.
// They ask for no tokens and have a mechanism for one server.
type Counters interface {
	// Open makes the counters ready for the reports of a round. Clients learn of the round
	// afterwards. It is called again with the same round when a server has started.
	Open(ctx context.Context, r fl.Round) error
	// Counted returns how many reports of an open round are counted, as far as is known.
	Counted(r fl.Round) int64
	// Sum returns the sum of all reports that were forwarded before the call, each counted once,
	// and their number. It tries until it succeeds or ctx ends. Any other error is final.
	Sum(ctx context.Context, r fl.Round, m fl.Mechanism) (sum fl.Aggregator, reports int64, err error)
	// Shards returns how those stand that count, nil before that is known.
	Shards() []Shard
	// End says that the reports of a round are needed no more. It does not wait.
	End(r fl.Round)
}

// Shard is how one part of the counters stands, which counts a share of the reports.
type Shard struct {
	Number   int
	Holder   string    // the process that does its work; random, new with each process
	Reports  int64     // counted, in open rounds
	Rejected int64     // that do not count, in open rounds
	Snapshot time.Time // when it was kept last, by the clock of a broker
	Waiting  int64     // messages that no snapshot covers yet
}

// openTimeout bounds Counters.Open when a server starts.
const openTimeout = time.Minute

// errElsewhere refuses reports that a server with counters is sent.
var errElsewhere = errors.New("the reports of this server's rounds are counted elsewhere")

// countable returns nil for a round whose reports can be counted elsewhere.
func countable(r fl.Round, m fl.Mechanism) error {
	_, shared := m.(fl.SharedMechanism)
	switch {
	case r.Shuffler == "":
		return fl.Invalid("shuffler", "", "is required on a server whose reports are counted elsewhere")
	case len(r.IssuerKey) > 0:
		return fl.Invalid("issuer_key", fmt.Sprintf("%d bytes", len(r.IssuerKey)), "must be empty on a server whose reports are counted elsewhere: a token could be spent once with each counter")
	case shared:
		return fl.Invalid("mechanism", r.Mechanism, "must be one for one server where reports are counted elsewhere")
	}
	return nil
}

// openCounters makes the counters ready for a new round.
func (s *Server) openCounters(ctx context.Context, r *round) error {
	if s.cfg.Counters == nil {
		return nil
	}
	if err := countable(r.description, r.mechanism); err != nil {
		return err
	}
	s.rounds.mu.Lock()
	err := s.rounds.free(r.description.ID)
	s.rounds.mu.Unlock()
	if err != nil {
		return err
	}
	return s.cfg.Counters.Open(ctx, r.description)
}

// gather fetches what the counters have counted. It returns false when the server stops before.
func (r *round) gather() (ok bool, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-r.tasks.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	sum, reports, err := r.counters.Sum(ctx, r.description, r.mechanism)
	switch {
	case ctx.Err() != nil:
		return false, nil
	case err != nil:
		return true, fmt.Errorf("counters: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shards, r.reports = newShards(r.mechanism), reports
	r.shards.hold(sum)
	return true, nil
}
