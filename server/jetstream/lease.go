package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// beat is between two renewals of a lease, and between two looks at one of another member.
	beat = 300 * time.Millisecond
	// leaseTime is how long a lease may stay as it is before another member takes it.
	leaseTime = 1500 * time.Millisecond
	// stepBack is how long a member that failed at its own work leaves it to others.
	stepBack = time.Minute
)

// lease is the right to do some work, for one member at a time. It is a key whose value changes
// with every renewal. Clocks of different machines are never compared.
type lease struct {
	table  jetstream.KeyValue
	wrote  func() // is called when the brokers have taken a write
	key    string
	holder string // this member
	// preferred is set for the member whose work this is when it is there. It takes a free lease at
	// once, and is given the lease by a holder that is not preferred.
	preferred bool
	failed    time.Time // when the member failed at the work: for a while it is not preferred then

	revision uint64 // of the last renewal
	wanted   uint64 // revision of the preferred member's wish when the lease was taken
}

// prefers reports whether the work is this member's now.
func (l *lease) prefers() bool {
	return l.preferred && (l.failed.IsZero() || time.Since(l.failed) >= stepBack)
}

// watch is what a member knows of a lease that it does not hold.
type watch struct {
	revision uint64
	still    time.Duration // how long the revision has not changed
}

// errWanted is wrapped by the error of hold when the preferred member asks for the lease.
var errWanted = errors.New("the preferred member is back")

// acquire takes the lease as soon as nobody else holds it, and returns false when ctx ends before.
func (l *lease) acquire(ctx context.Context) bool {
	var seen watch
	for last := time.Now(); ; last = last.Add(beat) {
		if l.try(ctx, &seen) {
			return true
		}
		if sleep(ctx, time.Until(last.Add(beat))) != nil {
			return false
		}
	}
}

// try looks at the lease once. A look counts only if this member can write, too: while the brokers
// elect a leader the holder cannot renew, and is not to be replaced for that.
func (l *lease) try(ctx context.Context, seen *watch) bool {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	probe, preferred := "probe", l.prefers()
	if preferred {
		probe = l.wish()
	}
	if _, err := l.table.Put(ctx, probe, nil); err != nil {
		seen.still = 0 // the holder gets the whole time again
		return false
	}
	l.wrote()
	entry, err := l.table.Get(ctx, l.key)
	revision, free := uint64(0), false
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		free = true
	case err != nil:
		seen.still = 0
		return false
	default:
		revision, free = entry.Revision(), len(entry.Value()) == 0
	}
	if revision != seen.revision {
		*seen = watch{revision: revision}
	} else {
		seen.still += beat
	}
	if seen.still < leaseTime && !(free && preferred) {
		return false
	}
	wanted, err := l.wishRevision(ctx)
	if err != nil {
		return false
	}
	l.wanted = wanted
	l.revision, err = l.table.Update(ctx, l.key, []byte(l.holder), revision)
	return err == nil
}

// wish is the key that the preferred member writes while it waits.
func (l *lease) wish() string { return "want." + l.key }

func (l *lease) wishRevision(ctx context.Context) (uint64, error) {
	entry, err := l.table.Get(ctx, l.wish())
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return entry.Revision(), nil
}

// hold renews the lease until ctx ends, which is no error, another member has it, or the preferred
// one wants it.
func (l *lease) hold(ctx context.Context) error {
	for {
		if sleep(ctx, beat) != nil {
			return nil
		}
		if err := l.renew(ctx); errors.Is(err, errFenced) || errors.Is(err, errWanted) {
			return err
		}
	}
}

// renew writes the lease again. An error that wraps neither errFenced nor errWanted is of the
// brokers.
func (l *lease) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, attempt/2)
	defer cancel()
	revision, err := l.table.Update(ctx, l.key, []byte(l.holder), l.revision)
	if err == nil {
		l.wrote()
		l.revision = revision
		if wanted, err := l.wishRevision(ctx); !l.prefers() && err == nil && wanted > l.wanted {
			return fmt.Errorf("%w: lease %s", errWanted, l.key)
		}
		return nil
	}
	entry, seen := l.table.Get(ctx, l.key)
	switch {
	case seen != nil:
		return err
	case string(entry.Value()) == l.holder:
		l.revision = max(l.revision, entry.Revision()) // the revision of a renewal whose answer was lost
		return err
	case entry.Revision() > l.revision:
		return fmt.Errorf("%w: lease %s", errFenced, l.key)
	}
	return err
}

// release lets another member take the lease at once.
func (l *lease) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	_, _ = l.table.Update(ctx, l.key, nil, l.revision) // or it runs out
}
