package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/journal"
)

const (
	// forwardingTime is what the shuffler has after the deadline of a round.
	forwardingTime = time.Hour
	// completed is why a round ends whose shuffler has forwarded all reports.
	completed = "completed by the shuffler"
)

// complete ends a round with a shuffler, whose reports are all in. second is what the second server
// released, for a mechanism that has one.
func (r *round) complete(ctx context.Context, second []byte) error {
	if err := r.stopComplete(second); err != nil {
		return err
	}
	select {
	case <-r.done:
		return r.completion()
	case <-ctx.Done():
		return ctx.Err()
	case <-r.tasks.stopping:
		return errStopping
	}
}

// stopComplete stops the round, unless it is stopped already or second does not fit.
func (r *round) stopComplete(second []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return nil
	}
	err := r.alone(func() error { return r.fits(second) })
	switch {
	case r.closing: // meanwhile
		return nil
	case err == nil:
		r.sealing.second = second
		r.stopLocked(completed)
	}
	return err
}

// fits returns nil if there will be an estimate with what the second server released, or none for
// lack of reports. Nobody else may use the aggregators.
func (r *round) fits(second []byte) error {
	switch {
	case r.sealing.shared == nil && len(second) > 0:
		return fl.Invalid("share_sum", fmt.Sprintf("%d bytes", len(second)), "must be empty in a round of a mechanism for one server")
	case r.sealing.shared == nil || r.reports < int64(r.description.MinReports):
		return nil
	}
	if r.stale {
		if err := r.restore(); err != nil {
			return err
		}
	}
	sum, err := r.shards.sum()
	if err != nil {
		return err
	}
	both := sealing{shared: r.sealing.shared, second: second}
	if _, err = both.estimate(sum); err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", fl.Invalid("share_sum", fmt.Sprintf("%d bytes", len(second)),
		"must be the sum of the second server's shares of the %d reports that count", r.reports), err)
}

// completion returns nil for a round that has ended as one that was completed does.
func (r *round) completion() error {
	if r.state == service.RoundState_ROUND_STATE_ABORTED || errors.Is(r.failure, errIncomplete) {
		return r.failure
	}
	return nil
}

// incomplete refuses to release an estimate of what a shuffler had forwarded so far.
func (r *round) incomplete() error {
	return because(errIncomplete, "round_id", r.description.ID, "must be completed within %v of its deadline", forwardingTime)
}

// ask makes the journal remember that the operator wants the round closed, so that the shuffler
// learns it.
func (r *round) ask() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing || r.asked {
		return nil
	}
	var b journal.Batch
	h := head{round: r.description, state: service.RoundState_ROUND_STATE_OPEN, closing: true, opened: r.opened}
	if err := h.put(&b); err != nil {
		return err
	}
	// Whoever stops the round waits for r.mu, so this does not undo the end of the round.
	if err := r.journal.commit(&b); err != nil {
		return err
	}
	r.asked = true
	r.logger.Info("the shuffler is asked for its reports")
	return nil
}
