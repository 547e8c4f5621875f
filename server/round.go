package server

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/internal/claims"
	"github.com/hushgrad/hushgrad/server/internal/crowd"
	"github.com/hushgrad/hushgrad/server/internal/keeper"
	"github.com/hushgrad/hushgrad/server/internal/overview"
	"github.com/hushgrad/hushgrad/server/internal/releases"
)

// round is one round's life: open, then closing (no new units, those in flight are
// finished), then ended. The journal is the truth about it; the aggregators in shards are
// what the journal's reports add up to, as long as stale is false. A round that has ended has none.
type round struct {
	description fl.Round
	digest      [32]byte
	mechanism   fl.Mechanism
	tokens      *admit.Verifier // nil if the round asks for none
	sealing     *sealing        // nil for a round without a shuffler, and for one that has ended
	opened      time.Time
	journal     *keeper.Prober
	tasks       *tasks
	metrics     *metrics
	counters    Counters // nil if this server counts
	logger      *slog.Logger
	onEnd       func()
	ending      chan struct{} // holds a value while a round of the server has its estimate in memory
	releases    *releases.Notes
	log         *logbook      // nil for none
	lost        error         // why an open round of two servers cannot release, or nil
	done        chan struct{} // closed when the round has ended

	claims  claims.Set[string]
	nextLog atomic.Uint64 // number of the next log entry
	logged  atomic.Int64  // bytes in log entries since the last snapshot, with entryBytes for each

	mu        sync.Mutex
	changed   *sync.Cond // inFlight or exclusive went down
	deadline  *time.Timer
	shards    *shards
	inFlight  int   // calls between begin and end
	pending   int64 // their reports
	reports   int64 // counted
	snapshot  int   // bytes of the last one
	exclusive bool  // a snapshot or a restoration is at work
	stale     bool
	closing   bool
	asked     bool // by the operator, to close when the shuffler has forwarded all reports

	// Final once done is closed.
	state   service.RoundState
	ended   time.Time
	failure error // why there is no estimate, nil if there is one
	worth   *overview.Worth
}

// newRound returns an open round. onEnd is called once, when it has ended.
func newRound(h head, m fl.Mechanism, s *Server) (*round, error) {
	digest, err := h.round.Digest()
	if err != nil {
		return nil, err
	}
	var tokens *admit.Verifier
	if len(h.round.IssuerKey) > 0 {
		if tokens, err = admit.NewVerifier(h.round.IssuerKey, digest); err != nil {
			return nil, err
		}
	}
	var sealed *sealing
	if h.round.Shuffler != "" && m != nil {
		if sealed, err = newSealing(h.round, m, s.cfg.Seal); err != nil {
			return nil, err
		}
		m = sealed.mechanism(m)
	}
	r := &round{
		description: h.round,
		digest:      digest,
		mechanism:   m,
		tokens:      tokens,
		sealing:     sealed,
		opened:      h.opened,
		journal:     s.journal,
		tasks:       &s.tasks,
		metrics:     s.metrics,
		counters:    s.cfg.Counters,
		logger:      s.cfg.Logger.With("round", h.round.ID, "mechanism", h.round.Mechanism),
		onEnd:       s.trim,
		ending:      s.ending,
		releases:    s.releases,
		log:         s.log,
		done:        make(chan struct{}),
		shards:      newShards(m),
		asked:       h.closing,
		state:       service.RoundState_ROUND_STATE_OPEN,
	}
	r.changed = sync.NewCond(&r.mu)
	return r, nil
}

// twoServers reports whether the round has a second server, and releases a sum with the noise of both.
func (r *round) twoServers() bool { return len(r.description.ShareKey) > 0 }

// shuffled reports whether the reports of the round come from a shuffler.
func (r *round) shuffled() bool { return r.description.Shuffler != "" }

// startClock makes the deadline, if there is one, stop the round. A shuffler forwards its reports
// after the deadline.
func (r *round) startClock() {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.description.Deadline
	if r.shuffled() {
		at = at.Add(forwardingTime)
	}
	if !r.description.Deadline.IsZero() {
		r.deadline = time.AfterFunc(time.Until(at), func() { r.stop("deadline") })
	}
}

// full reports whether the round has all reports that it is to have. The caller holds r.mu.
func (r *round) full() bool {
	target := int64(r.description.TargetReports)
	return target > 0 && r.reports >= target && !r.shuffled()
}

// begin lets a call count n reports, unless the round is closing. end must follow.
func (r *round) begin(n int64) error {
	if err := r.journal.Full(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for (r.exclusive || r.stale) && !r.closing {
		if r.exclusive {
			r.changed.Wait()
		} else if err := r.alone(r.restore); err != nil {
			return err
		}
	}
	switch {
	case r.closing:
		return r.closed()
	case n > fl.MaxReports-r.reports-r.pending:
		return because(errLimit, "reports", r.reports+r.pending+n, "must be at most %d in a round", fl.MaxReports)
	}
	r.inFlight++
	r.pending += n
	return nil
}

// end takes note of what became of a call's n reports.
func (r *round) end(n, counted int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight--
	r.pending -= n
	r.changed.Broadcast()
	switch {
	case err == nil:
		r.reports += counted
	case spoils(err):
		r.stale = true
	}
	if r.full() {
		r.stopLocked("target reached")
	} else if r.snapshotDue() {
		r.tasks.start(r.takeSnapshot)
	}
}

// closed refuses what only an open round takes.
func (r *round) closed() error {
	return because(errClosed, "round_id", r.description.ID, "must be open")
}

// alone runs do while no call is between begin and end, unless the round is closing: then finish alone
// uses the aggregators. The caller holds r.mu, which do does not.
func (r *round) alone(do func() error) error {
	for r.exclusive {
		r.changed.Wait()
	}
	if r.closing {
		return r.closed()
	}
	r.exclusive = true
	for r.inFlight > 0 {
		r.changed.Wait()
	}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.exclusive = false
		r.changed.Broadcast()
	}()
	return do()
}

// close is the operator's request. It refuses while too few reports are counted, and
// otherwise waits for the estimate. A shuffler is asked for its reports first.
func (r *round) close(ctx context.Context) error {
	if r.lost != nil {
		return r.lost
	}
	if r.shuffled() {
		if err := r.ask(); err != nil {
			return err
		}
		return r.wait(ctx)
	}
	r.mu.Lock()
	reports, closing := r.reports, r.closing
	r.mu.Unlock()
	if !closing && reports < int64(r.description.MinReports) {
		return r.tooFew(reports, errTooFew)
	}
	r.stop("operator")
	return r.wait(ctx)
}

// abort ends the round without an estimate.
func (r *round) abort(ctx context.Context) error {
	r.mu.Lock()
	if r.closing {
		r.mu.Unlock()
		return r.closed()
	}
	r.stopLocked("aborted")
	r.mu.Unlock()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wait returns when the round has ended, with nil or the reason why there is no estimate.
func (r *round) wait(ctx context.Context) error {
	if r.lost != nil && !r.settled() {
		return r.lost
	}
	select {
	case <-r.done:
		return r.failure
	case <-ctx.Done():
		return ctx.Err()
	case <-r.tasks.stopping:
		return errStopping
	}
}

// stop lets no new unit in and finishes the round in the background. Only the first call has
// an effect.
func (r *round) stop(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopLocked(why)
}

func (r *round) stopLocked(why string) {
	if r.closing || !r.tasks.start(func() { r.finish(why) }) {
		return
	}
	r.closing = true
	if r.deadline != nil {
		r.deadline.Stop()
	}
}

// tooFew refuses to release an estimate, for the reason why.
func (r *round) tooFew(reports int64, why error) error {
	return because(why, "round_id", r.description.ID, "must have at least min_reports = %d reports, has %d", r.description.MinReports, reports)
}

// head says how the round stands.
func (r *round) head() head {
	r.mu.Lock()
	h := head{round: r.description, state: service.RoundState_ROUND_STATE_OPEN, closing: r.asked, reports: r.reports, opened: r.opened}
	r.mu.Unlock()
	if r.settled() {
		h.state, h.closing, h.ended = r.state, false, r.ended
	} else if r.counters != nil {
		h.reports = r.counters.Counted(r.description)
	}
	return h
}

// status describes the round for clients.
func (r *round) status() *service.RoundStatus {
	h := r.head()
	if h.state == service.RoundState_ROUND_STATE_OPEN {
		h.reports = crowd.Bucket(h.reports)
	}
	s := h.status()
	s.Opened, s.Ended = nil, nil
	return s
}

// settled reports whether the round has ended.
func (r *round) settled() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}
