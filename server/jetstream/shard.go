package jetstream

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

const (
	// snapshotReports is how many reports are read at most between two snapshots, and
	// snapshotTime how long one waits. Both bound what a takeover has to read again.
	snapshotReports = 16384
	snapshotTime    = 2 * time.Second
	// idle bounds the time between two looks at a lane without new messages.
	leastIdle, mostIdle = 5 * time.Millisecond, 100 * time.Millisecond
)

// shard reads one partition of all lanes and counts its reports.
type shard struct {
	*Cluster
	index   int
	holder  string
	keys    *seal.Keys
	ids     idStore
	logger  *slog.Logger
	every   time.Duration // snapshotTime, less in tests
	cleaner cleaner
	board   board

	at       []uint64 // last messages that were read, by lane
	tallies  map[[32]byte]*tally
	saved    []uint64 // at of the last snapshot
	revision uint64   // of the manifest
	since    int      // reports read since the last snapshot
	fenced   bool     // a fence was read since then
}

func newShard(c *Cluster, index int, holder string, keys *seal.Keys, kept journal.Journal) *shard {
	s := &shard{Cluster: c, index: index, holder: holder, keys: keys, ids: idStore{kept, index}, logger: c.cfg.Logger.With("shard", index), every: snapshotTime}
	s.cleaner = cleaner{shard: s, busy: make(chan struct{}, 1)}
	return s
}

// delivery is a message that a lane has.
type delivery struct {
	lane   int
	number uint64
	data   []byte
}

// work counts until ctx ends, which is no error, or something fails. It can be called again.
func (s *shard) work(ctx context.Context) error {
	begun := time.Now()
	if err := s.load(ctx); err != nil {
		return ignoreEnd(ctx, err)
	}
	s.logger.Info("shard taken", "reports", s.counted(), "load", time.Since(begun))
	s.board.note(func(now *standing) {
		now.held, now.reports, now.snapshot = true, s.counted(), time.Now()
		now.takeovers++
	})
	reading, stop := context.WithCancel(ctx)
	in := make(chan delivery, len(s.lanes))
	var readers sync.WaitGroup
	defer readers.Wait()
	defer stop()
	for lane := range s.lanes {
		readers.Go(func() { s.read(reading, lane, s.at[lane]+1, in) })
	}
	defer s.cleaner.wait()
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	defer s.board.note(func(now *standing) { now.held = false })
	for {
		late := false
		select {
		case d := <-in:
			if err := s.apply(ctx, d); err != nil {
				return ignoreEnd(ctx, err)
			}
			s.board.note(func(now *standing) { now.reports = s.counted() })
		case <-tick.C:
			late = true
		case <-ctx.Done():
			s.leave(ctx)
			return nil
		}
		switch {
		case s.since >= snapshotReports || s.fenced && len(in) == 0 || late && !slices.Equal(s.at, s.saved):
			if err := s.save(ctx); err != nil {
				return ignoreEnd(ctx, err)
			}
		case late:
			s.cleaner.finish(s.saved)
		}
	}
}

// leave takes a last snapshot, so that the next member has nothing to read again. Without it that
// member reads what is missing.
func (s *shard) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTime/2)
	defer cancel()
	if err := s.save(ctx); err != nil {
		s.logger.Debug("no last snapshot", "error", err)
	}
}

// ignoreEnd returns nil for errors that come of the end of ctx.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// read sends the messages of a lane from a number on.
func (s *shard) read(ctx context.Context, lane int, next uint64, in chan<- delivery) {
	idle := leastIdle
	subject := jetstream.WithGetMsgSubject(s.reportSubject(lane, s.index))
	for ctx.Err() == nil {
		trying, cancel := context.WithTimeout(ctx, attempt)
		msg, err := s.lanes[lane].GetMsg(trying, next, subject)
		cancel()
		if err == nil && msg.Sequence >= next {
			select {
			case in <- delivery{lane, msg.Sequence, msg.Data}:
				next, idle = msg.Sequence+1, leastIdle
			case <-ctx.Done():
			}
			continue
		}
		select {
		case <-time.After(idle):
			idle = min(2*idle, mostIdle)
		case <-ctx.Done():
		}
	}
}

// apply takes a message into account. Messages that no shuffler or leader sends change nothing.
func (s *shard) apply(ctx context.Context, d delivery) error {
	s.at[d.lane] = d.number
	m, err := parseMessage(d.data)
	if err != nil {
		s.logger.Warn("message ignored", "lane", d.lane, "number", d.number, "error", err)
		return nil
	}
	t := s.tallies[m.digest]
	switch {
	case m.kind == kindOpen && t == nil:
		return s.open(m)
	case m.kind == kindFence:
		s.fenced = true
	case t == nil: // a round that has ended
	case m.kind == kindEnd:
		return s.end(t, d.lane)
	case m.kind == kindReports && !slices.Contains(t.ended, true):
		s.since += len(m.body) / t.size
		return t.count(ctx, m.body, func(one id) (bool, error) { return s.ids.has(t.digest, one) })
	}
	return nil
}

// open begins a round. A round that this member cannot count, for lack of its key or of its
// mechanism, stops the shard: its reports must not be passed over.
func (s *shard) open(m message) error {
	r, err := m.round()
	if err != nil {
		s.logger.Warn("round ignored", "error", err)
		return nil
	}
	t, err := newTally(r, s.keys, len(s.lanes))
	if err != nil {
		return fmt.Errorf("round %s: %w", r.ID, err)
	}
	s.tallies[t.digest] = t
	s.since += snapshotReports // the manifest is to have it
	return nil
}

// end notes that a lane says that a round has ended, and drops the round when all do.
func (s *shard) end(t *tally, lane int) error {
	t.ended[lane] = true
	if !t.gone() {
		return nil
	}
	delete(s.tallies, t.digest)
	s.cleaner.round(t)
	return s.ids.drop(t.digest)
}

// counted returns the reports of all rounds.
func (s *shard) counted() (n int64) {
	for _, t := range s.tallies {
		n += t.reports
	}
	return n
}
