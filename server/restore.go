package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal"
)

// restore makes the aggregators what the journal has. Nobody else may use them.
func (r *round) restore() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil {
			err = fmt.Errorf("restore: %w", err)
		}
	}()
	sum, kept, logged, err := r.restored()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shards, r.reports, r.stale = newShards(r.mechanism), kept.reports, false
	r.shards.hold(sum)
	r.nextLog.Store(kept.next)
	r.logged.Store(logged) // or a server that is killed often would never take a snapshot
	r.snapshot = len(kept.aggregator)
	return nil
}

// restored returns the sum of the reports in the journal, which are in the last snapshot, kept,
// or were logged since. kept.next and kept.reports count both. logged is the bytes of the latter.
func (r *round) restored() (sum fl.Aggregator, kept snapshot, logged int64, err error) {
	sum = r.mechanism.NewAggregator()
	data, err := r.journal.Get(r.key("snapshot"))
	if err == nil {
		if kept, err = unmarshalSnapshot(data); err == nil {
			err = sum.UnmarshalBinary(kept.aggregator)
		}
	}
	if err != nil && !errors.Is(err, journal.ErrNotFound) {
		return nil, kept, 0, err
	}
	log := r.key("log/")
	for entry, err := range r.journal.Scan(log, journal.After(log)) {
		if err == nil && len(entry.Key) != len(log)+8 {
			err = fl.Invalid("key", fmt.Sprintf("%q", entry.Key), "must end with a number of 8 bytes")
		}
		if err != nil {
			return nil, kept, 0, err
		}
		reports, err := fl.UnpackReports(r.mechanism, entry.Value)
		if err == nil {
			err = fl.AddBatch(r.mechanism, sum, reports)
		}
		if err != nil {
			return nil, kept, 0, fmt.Errorf("log entry %x: %w", entry.Key[len(log):], err)
		}
		kept.reports += int64(len(reports))
		logged += int64(len(entry.Value) + entryBytes)
		kept.next = binary.BigEndian.Uint64(entry.Key[len(log):]) + 1
	}
	return sum, kept, logged, nil
}

const (
	// snapshotBytes is how much is logged at least between two snapshots.
	snapshotBytes = 16 << 20
	// entryBytes is what a log entry costs beside its reports, so that many small ones are
	// replaced by a snapshot, too.
	entryBytes = 64
)

// snapshotDue reports whether it is time for a snapshot. The caller holds r.mu.
func (r *round) snapshotDue() bool {
	return !r.closing && !r.exclusive && !r.stale && r.logged.Load() >= int64(max(snapshotBytes, 2*r.snapshot))
}

// takeSnapshot puts a snapshot in the place of the log entries.
func (r *round) takeSnapshot() {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.alone(func() error {
		if r.stale || r.logged.Load() == 0 {
			return nil
		}
		return r.writeSnapshot()
	})
	if err != nil && !r.closing { // the log entries are still there
		r.logger.Error("no snapshot", "error", err)
	}
}

func (r *round) writeSnapshot() error {
	sum, err := r.shards.sum()
	if err != nil {
		return err
	}
	aggregator, err := sum.MarshalBinary()
	if err != nil {
		return err
	}
	next := r.nextLog.Load()
	var b journal.Batch
	b.Put(r.key("snapshot"), snapshot{next: next, reports: r.reports, aggregator: aggregator}.marshal())
	b.Delete(r.logKey(0), r.logKey(next))
	if err := r.journal.Commit(&b); err != nil {
		return err
	}
	r.snapshot = len(aggregator)
	r.logged.Store(0)
	return nil
}

// trim forgets old rounds.
func (s *Server) trim() {
	if err := s.rounds.trim(); err != nil {
		s.cfg.Logger.Warn("old rounds are not forgotten yet", "error", err)
	}
	s.sweepKeys()
}

// recover makes the server what the journal has.
func (s *Server) recover() error {
	for pair, err := range s.journal.Scan([]byte(headPrefix), journal.After([]byte(headPrefix))) {
		if err != nil {
			return err
		}
		id := string(pair.Key[len(headPrefix):])
		h, err := unmarshalHead(pair.Value)
		if err == nil && h.round.ID != id {
			err = fl.Invalid("id", h.round.ID, "must be %q", id)
		}
		var r *round
		if err == nil {
			r, err = s.recoverRound(h)
		}
		if err != nil {
			return fmt.Errorf("round %q: %w", id, err)
		}
		s.rounds.restored(r)
	}
	if err := s.rounds.recoverPast(); err != nil {
		return err
	}
	if err := s.model.recover(s.journal, s.cfg.MaxModelBytes); err != nil {
		return err
	}
	return s.recoverLog()
}

// recoverRound returns a round that the journal knows. An open one goes on.
func (s *Server) recoverRound(h head) (*round, error) {
	if h.state != service.RoundState_ROUND_STATE_OPEN {
		r, err := newRound(h, nil, s)
		if err != nil {
			return nil, err
		}
		r.closing, r.reports, r.state, r.ended = true, h.reports, h.state, h.ended
		r.failure = failureOf(r)
		close(r.done)
		if r.twoServers() && r.state == service.RoundState_ROUND_STATE_CLOSED { // a stop may have come before the note
			err = r.releases.Note(r.digest)
		}
		return r, err
	}
	m, err := fl.Open(h.round)
	if err != nil {
		return nil, err
	}
	r, err := newRound(h, m, s)
	if err == nil {
		err = r.checkNotes()
	}
	switch {
	case err != nil:
	case r.counters != nil:
		ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
		err = r.counters.Open(ctx, r.description)
		cancel()
	default:
		err = r.restore()
	}
	if err != nil {
		return nil, err
	}
	r.logger.Info("round restored", "reports", r.reports)
	return r, nil
}

// checkNotes finds out whether an open round of two servers was opened with the notes of released sums that there are now. With
// others it goes on, so that the right ones can be put back, and releases nothing.
func (r *round) checkNotes() error {
	if !r.twoServers() {
		return nil
	}
	id, err := r.journal.Get(r.key("releases"))
	if err != nil && !errors.Is(err, journal.ErrNotFound) {
		return err
	}
	if err := r.releases.Same(string(id)); err != nil {
		r.lost = fmt.Errorf("%w: %w", fl.Invalid("round_id", r.description.ID,
			"must be aborted, unless the server is started with the directory of released sums that it had when the round was opened: the sum may have left before"), err)
		r.logger.Error("the round releases nothing", "error", r.lost)
	}
	return nil
}
