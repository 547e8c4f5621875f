package server

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// round is one round's life: open, then closing (no new batches, those in
// flight are finished), then closed or expired.
type round struct {
	description fl.Round
	digest      [32]byte
	shards      *shards
	logger      *slog.Logger
	onSettled   func()
	done        chan struct{} // closed when the round is closed or expired

	mu       sync.Mutex
	deadline *time.Timer // nil without a deadline
	batches  batches
	inFlight int
	idle     *sync.Cond // inFlight went down to 0
	reports  int64
	closing  bool

	// Final once done is closed.
	estimate *fl.Estimate
	failure  error
}

// newRound returns an open round. onSettled is called once, when it is closed or
// expired.
func newRound(r fl.Round, m fl.Mechanism, logger *slog.Logger, onSettled func()) (*round, error) {
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	rd := &round{
		description: r,
		digest:      digest,
		shards:      newShards(m),
		logger:      logger.With("round", r.ID, "mechanism", r.Mechanism),
		onSettled:   onSettled,
		done:        make(chan struct{}),
		batches:     batches{},
	}
	rd.idle = sync.NewCond(&rd.mu)
	return rd, nil
}

// startClock makes the deadline, if there is one, stop the round.
func (r *round) startClock() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.description.Deadline; !at.IsZero() {
		r.deadline = time.AfterFunc(time.Until(at), func() { r.stop("deadline") })
	}
}

// close is the operator's request. It refuses while too few reports are
// counted, and otherwise waits for the estimate.
func (r *round) close(ctx context.Context) error {
	r.mu.Lock()
	reports, closing := r.reports, r.closing
	r.mu.Unlock()
	if !closing && reports < int64(r.description.MinReports) {
		return r.tooFew(reports, errTooFew)
	}
	r.stop("operator")
	return r.wait(ctx)
}

// wait returns when the round is closed, with nil or the reason why there is
// no estimate.
func (r *round) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return r.failure
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop lets no new batch in and finishes the round in the background. Only the
// first call has an effect.
func (r *round) stop(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return
	}
	r.closing = true
	if r.deadline != nil {
		r.deadline.Stop()
	}
	go r.finish(why)
}

func (r *round) finish(why string) {
	r.mu.Lock()
	for r.inFlight > 0 {
		r.idle.Wait()
	}
	reports := r.reports
	r.mu.Unlock()

	start := time.Now()
	r.failure = r.release(reports)
	if r.failure != nil {
		r.logger.Warn("round without estimate", "why", why, "reports", reports, "error", r.failure)
	} else {
		r.logger.Info("round closed", "why", why, "reports", reports, "decode", time.Since(start))
	}
	close(r.done)
	r.onSettled()
}

// tooFew refuses to release an estimate, for the reason why.
func (r *round) tooFew(reports int64, why error) error {
	return because(why, "round_id", r.description.ID, "must have at least min_reports = %d reports, has %d", r.description.MinReports, reports)
}

// release computes the estimate, if there are enough reports for one.
func (r *round) release(reports int64) error {
	if reports < int64(r.description.MinReports) {
		return r.tooFew(reports, errExpired)
	}
	e, err := r.decode()
	if err == nil {
		err = checkEstimate(r.description, e)
	}
	if err != nil { // not the caller's fault, whatever its type says
		return fmt.Errorf("mechanism %q: %v", r.description.Mechanism, err)
	}
	r.estimate = e
	return nil
}

// decode lets the mechanism estimate. It runs outside any call, so it turns a panic into
// an error itself.
func (r *round) decode() (e *fl.Estimate, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	sum, err := r.shards.merge()
	if err != nil {
		return nil, err
	}
	return sum.Estimate()
}

// status describes the round for clients.
func (r *round) status() *service.RoundStatus {
	r.mu.Lock()
	reports := r.reports
	r.mu.Unlock()
	state := service.RoundState_ROUND_STATE_OPEN
	if r.settled() {
		state = service.RoundState_ROUND_STATE_CLOSED
		if r.failure != nil {
			state = service.RoundState_ROUND_STATE_EXPIRED
		}
	}
	return &service.RoundStatus{Round: r.description.Proto(), State: state, Reports: uint64(reports)}
}

// settled reports whether the round is closed or expired.
func (r *round) settled() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}
