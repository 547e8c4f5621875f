package shuffler

import (
	"context"
	"errors"
	"time"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal"
)

const (
	// unknownFor is how long a server may not know a round before its reports are deleted: an
	// older state of the server may be at work for a while.
	unknownFor = time.Hour
	// maxBackoff is the longest time between two tries.
	maxBackoff = 30 * time.Second
)

// sinceTime is when something began, or the zero time.
type sinceTime struct{ time.Time }

// pause waits and returns true, or false when ctx ends before.
func (s *Shuffler) pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// backoff doubles from 100 ms to maxBackoff.
func backoff(attempt int) time.Duration {
	return min(100*time.Millisecond<<min(attempt-1, 10), maxBackoff)
}

// run watches the round until it has ended or ctx ends.
func (r *round) run(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; {
		end, err := r.look(ctx)
		if err == nil && end != "" {
			if err = r.end(ctx, end); err == nil {
				return
			}
		}
		wait := r.shuffler.cfg.every
		if err == nil {
			failures = 0
		} else if ctx.Err() == nil {
			failures++
			wait = backoff(failures)
			r.logger.Error("the round is tried again", "attempt", failures, "error", err)
		}
		select {
		case <-r.kick:
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// look forwards the round if it is due, and returns how the round ends, "" for not yet.
func (r *round) look(ctx context.Context) (outcome, error) {
	if err := r.shuffler.written.Broken(); err != nil {
		return "", err
	}
	st, end := r.ask(ctx)
	if end != "" {
		return end, nil
	}
	r.closing.Store(st.closing)
	if err := r.decide(st); err != nil {
		return "", err
	}
	switch now := r.now(); {
	case now == phaseForwarding:
		return r.forward(ctx)
	case now == phaseEnded, now == phaseLost && r.overdue():
		return expired, nil
	}
	return "", nil
}

// now returns the phase.
func (r *round) now() phase {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.phase
}

// ask asks the server how the round stands, and returns how the round has ended there, "" if it
// has not. A server that does not answer leaves everything as it is.
func (r *round) ask(ctx context.Context) (standing, outcome) {
	st, err := r.shuffler.upstream.round(ctx, r.description.ID)
	stranger := errors.Is(err, errNotFound)
	if err == nil && st.digest != r.digest {
		err, stranger = errOtherRound, true
	}
	now := r.shuffler.cfg.Now()
	switch {
	case stranger && r.unknown.IsZero():
		r.unknown.Time = now
		r.logger.Error("the server does not know the round: its reports are kept for an hour", "error", err)
	case stranger && now.Sub(r.unknown.Time) > unknownFor:
		return standing{}, withdrawn
	case err != nil:
	case st.state == service.RoundState_ROUND_STATE_OPEN:
		r.unknown = sinceTime{}
		return st, ""
	case st.state == service.RoundState_ROUND_STATE_CLOSED:
		return st, forwarded
	default:
		return st, withdrawn
	}
	return standing{}, ""
}

// overdue reports whether the deadline has come.
func (r *round) overdue() bool {
	return !r.due.IsZero() && !r.shuffler.cfg.Now().Before(r.due)
}

// decide ends an open round that has too few reports at its deadline, and makes it durable that the
// round is to be forwarded, if it is due. No call is between its look at the phase and its commit
// then. The decision is a deletion, for which a full disk has room.
func (r *round) decide(st standing) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	held, target, late := r.held.Load(), int64(r.description.TargetReports), r.overdue()
	switch {
	case r.phase != phaseOpen:
		return nil
	case held < r.need:
		if late {
			r.phase = phaseEnded
		}
		return nil
	case !(late || st.closing || target > 0 && held >= target):
		return nil
	}
	var b journal.Batch
	key := openKey(r.description.ID)
	b.Delete(key, append(key, 0)) // this one alone
	if err := r.shuffler.journal.Commit(&b); err != nil {
		return err
	}
	r.phase = phaseForwarding
	r.logger.Info("round is forwarded from now on", "reports", held)
	return nil
}

// end deletes everything about the round but its id and how it ended. It tries until the journal
// has room.
func (r *round) end(ctx context.Context, how outcome) error {
	s, id := r.shuffler, r.description.ID
	r.mu.Lock()
	r.phase = phaseEnded
	r.mu.Unlock()
	var reports, rest journal.Batch
	reports.Delete(reportsOf(id), journal.After(reportsOf(id))) // a full disk has room for that
	reports.Delete(tokensOf(id), journal.After(tokensOf(id)))
	rest.Delete(openKey(id), append(openKey(id), 0)) // each of these alone
	rest.Delete(sumKey(id), append(sumKey(id), 0))
	rest.Delete(headKey(id), append(headKey(id), 0))
	rest.Put(usedKey(id), []byte(how))
	for _, b := range []*journal.Batch{&reports, &rest} {
		if err := r.insist(ctx, b); err != nil {
			return err
		}
	}
	held := r.held.Swap(0)
	s.upstream.forget(id) // what it said before is over
	s.mu.Lock()
	delete(s.rounds, id)
	s.mu.Unlock()
	if err := s.vault.destroy(r.digest); err != nil {
		r.logger.Error("the secret of the round could not be destroyed: remove it from the directory of secrets", "error", err)
	}
	r.logger.Info("round ended", "how", string(how), "reports", held)
	return nil
}

// insist commits when the journal has room. The error is another one, or ctx's.
func (r *round) insist(ctx context.Context, b *journal.Batch) error {
	for {
		err := r.shuffler.journal.Commit(b)
		if !errors.Is(err, journal.ErrFull) {
			return err
		}
		r.logger.Error("the end of the round could not be kept, trying again", "error", err)
		if !r.shuffler.pause(ctx, r.shuffler.cfg.every) {
			return ctx.Err()
		}
	}
}
