package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/internal/overview"
	"github.com/hushgrad/hushgrad/server/journal"
)

// finish ends the round, whose last unit is in or in flight.
func (r *round) finish(why string) {
	r.mu.Lock()
	var restored error
	for r.inFlight > 0 || r.exclusive {
		r.changed.Wait()
	}
	stale := r.stale
	r.mu.Unlock()
	if stale {
		restored = r.restore()
	}
	if r.counters != nil && why == completed {
		var ok bool
		if ok, restored = r.gather(); !ok {
			return // the server stops; the next one is told again that the round is complete
		}
	}
	reports := r.reports // nothing changes it any more

	select {
	case r.ending <- struct{}{}:
	case <-r.tasks.stopping:
		return // the next server finishes the round
	}
	ended := r.conclude(why, reports, restored)
	<-r.ending
	if !ended {
		return // the server stops; the next one finishes the round
	}
	if r.sealing != nil {
		r.sealing.second = nil // as long as a sum
	}
	close(r.done)
	if r.counters != nil {
		r.counters.End(r.description)
	}
	r.onEnd()
}

// conclude decodes and keeps the end of the round, or returns false when the server stops before.
func (r *round) conclude(why string, reports int64, restored error) bool {
	start := time.Now()
	estimate, state, failure := r.outcome(why, reports, restored)
	r.shards = newShards(r.mechanism) // an end without an estimate leaves aggregators, too
	h := head{round: r.description, state: state, reports: reports, opened: r.opened, ended: time.Now()}
	if !r.keepEnd(h, estimate) {
		return false
	}
	r.state, r.ended, r.failure, r.worth = state, h.ended, failure, overview.WorthOf(estimate)
	if failure != nil {
		r.logger.Warn("round without estimate", "why", why, "reports", reports, "error", failure)
	} else {
		r.logger.Info("round closed", "why", why, "reports", reports, "decode", time.Since(start))
	}
	if estimate != nil && len(estimate.Suspects) > 0 {
		n := len(estimate.Suspects)
		r.metrics.suspects.Add(float64(n))
		r.logger.Warn("clients lie: more reports agree than honest clients send", "coordinates", n, "first", estimate.Suspects[:min(n, maxNamed)])
	}
	return true
}

// outcome computes the estimate, if there is to be one.
func (r *round) outcome(why string, reports int64, restored error) (*fl.Estimate, service.RoundState, error) {
	switch {
	case why == "aborted":
		return nil, service.RoundState_ROUND_STATE_ABORTED, because(errAborted, "round_id", r.description.ID, "must have been closed")
	case r.counters != nil && restored != nil: // it is not known how many reports there are
		return nil, service.RoundState_ROUND_STATE_FAILED, restored
	case reports < int64(r.description.MinReports):
		return nil, service.RoundState_ROUND_STATE_EXPIRED, r.tooFew(reports, errExpired)
	case r.shuffled() && why != completed:
		return nil, service.RoundState_ROUND_STATE_EXPIRED, r.incomplete()
	}
	released := r.released()
	if r.twoServers() {
		released = cmp.Or(released, r.lost, r.releases.Check(r.digest))
	}
	if released != nil {
		return nil, service.RoundState_ROUND_STATE_FAILED, released
	}
	e, err := r.decode(restored)
	if err == nil {
		err = checkEstimate(r.description, e)
	}
	if err != nil { // not the caller's fault, whatever its type says
		return nil, service.RoundState_ROUND_STATE_FAILED, fmt.Errorf("mechanism %q: %v", r.description.Mechanism, err)
	}
	return e, service.RoundState_ROUND_STATE_CLOSED, nil
}

// failureOf returns why a round that has ended has no estimate. The reason of a failure is in
// the log of the server that met it.
func failureOf(r *round) error {
	switch r.state {
	case service.RoundState_ROUND_STATE_CLOSED:
		return nil
	case service.RoundState_ROUND_STATE_EXPIRED:
		if r.reports >= int64(r.description.MinReports) {
			return r.incomplete()
		}
		return r.tooFew(r.reports, errExpired)
	case service.RoundState_ROUND_STATE_ABORTED:
		return because(errAborted, "round_id", r.description.ID, "must have been closed")
	}
	return fmt.Errorf("mechanism %q failed", r.description.Mechanism)
}

// decode lets the mechanism estimate. It runs outside any call, so it turns a panic into
// an error itself.
func (r *round) decode(restored error) (e *fl.Estimate, err error) {
	if restored != nil {
		return nil, restored
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	sum, err := r.shards.take()
	if err != nil {
		return nil, err
	}
	return r.sealing.estimate(sum)
}

// keepEnd writes the end of the round, and what the log says of it. It tries until there is room, and
// returns false when the server stops before.
func (r *round) keepEnd(h head, e *fl.Estimate) bool {
	for _, write := range []func() error{func() error { return r.writeEnd(h, e) }, r.logRelease} {
		if !r.tasks.insist(write, func(err error) {
			r.logger.Error("the end of the round could not be kept, trying again", "error", err)
		}) {
			return false
		}
	}
	return true
}

// writeEnd writes the estimate and then, in one batch, the state and that the rest is gone. What a round
// of two servers releases is noted outside of the journal before anybody sees it.
func (r *round) writeEnd(h head, e *fl.Estimate) error {
	if e != nil {
		if err := r.writeEstimate(e); err != nil {
			return err
		}
	}
	var b journal.Batch
	for _, what := range []string{"unit/", "log/", "snapshot", "releases"} {
		below(&b, r.key(what))
	}
	if err := errors.Join(h.put(&b), r.putRelease(&b, e, h.ended)); err != nil {
		return err
	}
	if err := r.journal.Commit(&b); err != nil || e == nil || !r.twoServers() {
		return err
	}
	return r.releases.Note(r.digest)
}

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
	case <-r.done: // as a round that was completed does, or before
		if r.state == service.RoundState_ROUND_STATE_ABORTED || errors.Is(r.failure, errIncomplete) {
			return r.failure
		}
		return nil
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
	if err := r.journal.Commit(&b); err != nil {
		return err
	}
	r.asked = true
	r.logger.Info("the shuffler is asked for its reports")
	return nil
}
