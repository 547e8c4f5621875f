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
	estimate  *fl.Estimate
	keyValues func() (*fl.KeyValueEstimate, error) // nil if the mechanism tells none
	failure   error
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

// submit counts a batch. duplicate means that it had been counted before.
func (r *round) submit(ctx context.Context, key string, reports [][]byte) (duplicate bool, err error) {
	content := contentOf(reports)
	mine, duplicate, err := r.claim(ctx, key, content)
	if err != nil || duplicate {
		return duplicate, err
	}
	err = errInterrupted // stays so if the mechanism panics
	defer func() { r.settle(key, mine, int64(len(reports)), err) }()
	err = r.shards.add(ctx, reports)
	return false, err
}

// claim reserves a key for the caller, or finds that its batch is counted. It
// waits while another call is deciding about the same key.
func (r *round) claim(ctx context.Context, key string, content [32]byte) (mine *batch, duplicate bool, err error) {
	for {
		r.mu.Lock()
		other := r.batches[key]
		switch {
		case other == nil && r.closing:
			r.mu.Unlock()
			return nil, false, errClosed
		case other == nil:
			mine = &batch{content: content, settled: make(chan struct{})}
			r.batches[key] = mine
			r.inFlight++
			r.mu.Unlock()
			return mine, false, nil
		case other.content != content:
			r.mu.Unlock()
			return nil, false, fl.Invalid("batch_key", fmt.Sprintf("%x", key), "must be new for new reports: it was used for others")
		case other.counted:
			r.mu.Unlock()
			return nil, true, nil
		}
		r.mu.Unlock()
		select {
		case <-other.settled:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// settle ends the claim: the batch is counted, or its key is free again.
func (r *round) settle(key string, b *batch, n int64, err error) {
	r.mu.Lock()
	if err == nil {
		b.counted = true
		r.reports += n
	} else {
		delete(r.batches, key)
	}
	close(b.settled)
	if r.inFlight--; r.inFlight == 0 {
		r.idle.Broadcast()
	}
	full := r.description.TargetReports > 0 && r.reports >= int64(r.description.TargetReports)
	r.mu.Unlock()
	if full {
		r.stop("target reached")
	}
}

// close is the operator's request. It refuses while too few reports are
// counted, and otherwise waits for the estimate.
func (r *round) close(ctx context.Context) error {
	r.mu.Lock()
	reports, closing := r.reports, r.closing
	r.mu.Unlock()
	if !closing && reports < int64(r.description.MinReports) {
		return fmt.Errorf("min_reports: got %d reports, rule: at least %d: %w", reports, r.description.MinReports, errTooFew)
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

// release computes the estimate, if there are enough reports for one. It runs
// outside any call, so it turns a panic of the mechanism into an error itself.
func (r *round) release(reports int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("mechanism panicked: %v", p)
		}
	}()
	if reports < int64(r.description.MinReports) {
		return fmt.Errorf("min_reports: got %d reports, rule: at least %d: %w", reports, r.description.MinReports, errExpired)
	}
	sum, err := r.shards.merge()
	if err != nil {
		return err
	}
	if r.estimate, err = sum.Estimate(); err != nil {
		return err
	}
	r.keyValues = keyValuesOf(sum)
	return nil
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

// settled tells whether the round is closed or expired.
func (r *round) settled() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}
