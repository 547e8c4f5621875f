package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

// unit is what is counted whole or not at all, and once however often it is sent: a batch, or in
// a round that asks for tokens or has a shuffler a report.
type unit struct {
	key     string   // tells units of a round apart
	place   int      // position in the call
	content [16]byte // identifies the reports and the token, so that a key that comes back with others is noticed
	packed  []byte
	reports [][]byte // those in packed
	token   []byte   // nil in a round that asks for none
}

func newUnit(key string, packed []byte, reports [][]byte, token []byte) unit {
	h := sha256.New()
	h.Write(packed)
	h.Write(token) // all have one size
	return unit{
		key: key, content: [16]byte(h.Sum(nil)[:16]), packed: slices.Clip(packed), reports: slices.Clip(reports), token: token,
	}
}

// receipt says how many reports were counted, and how many had been counted before.
type receipt struct{ accepted, duplicates int64 }

// drop is told of a unit of one report that cannot be counted, and why. The others are counted.
// nil is for calls whose units are counted all or none: the reason is their error.
type drop func(u unit, why error)

func (d drop) orFail(u unit, why error) error {
	if d == nil {
		return why
	}
	d(u, why)
	return nil
}

// submit counts the units that were not counted before. When it returns without an error they
// are in the journal.
func (r *round) submit(ctx context.Context, units []unit, drop drop) (got receipt, err error) {
	release, err := r.claim(ctx, units)
	if err != nil {
		return receipt{}, err
	}
	defer release()
	fresh, duplicates, err := r.fresh(units, drop)
	if err == nil {
		fresh, err = r.verify(ctx, fresh, drop)
	}
	if err != nil {
		return receipt{}, err
	}
	got.duplicates = duplicates
	if len(fresh) == 0 {
		return got, nil
	}
	most := reportsIn(fresh)
	if err := r.begin(most); err != nil {
		return receipt{}, err
	}
	err = errInterrupted // stays so if the mechanism panics
	defer func() { r.end(most, got.accepted, err) }()
	got.accepted, err = r.count(ctx, fresh, drop)
	return got, err
}

func reportsIn(units []unit) (n int64) {
	for _, u := range units {
		n += int64(len(u.reports))
	}
	return n
}

// claim keeps other calls from deciding about the same units, until release is called. It
// waits while another call decides about one of them.
func (r *round) claim(ctx context.Context, units []unit) (release func(), err error) {
	mine := &claim{units: units, done: make(chan struct{})}
	for {
		other := r.claims.add(mine)
		if other == nil {
			return func() { r.claims.remove(mine) }, nil
		}
		select {
		case <-other.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// fresh returns the units that are not in the journal, and the number of reports in the others.
func (r *round) fresh(units []unit, drop drop) (fresh []unit, duplicates int64, err error) {
	seen := map[string][16]byte{}
	for _, u := range units {
		content, twice := seen[u.key]
		if !twice {
			counted, err := r.journal.Get(r.unitKey(u.key))
			if errors.Is(err, journal.ErrNotFound) {
				seen[u.key] = u.content
				fresh = append(fresh, u)
				continue
			}
			if err != nil {
				return nil, 0, err
			}
			copy(content[:], counted)
		}
		if content == u.content {
			duplicates += int64(len(u.reports))
		} else if err := drop.orFail(u, u.otherContent()); err != nil {
			return nil, 0, err
		}
	}
	return fresh, duplicates, nil
}

func (u unit) otherContent() error {
	if u.token != nil {
		return because(errSpent, "tokens", fmt.Sprintf("one with the id %x", u.key), "must be new for another report")
	}
	return fl.Invalid("batch_key", fmt.Sprintf("%x", u.key), "must be new for new reports: it was used for others")
}

// count adds units to an aggregator and then to the journal, and returns the number of their
// reports. After an error the aggregators are not what the journal has, unless the mechanism
// refused a report.
func (r *round) count(ctx context.Context, units []unit, drop drop) (int64, error) {
	start := time.Now()
	units, err := r.shards.add(ctx, units, drop)
	if err != nil || len(units) == 0 {
		return 0, err
	}
	r.metrics.decoded(start)
	changes := &journal.Batch{}
	packed := units[0].packed
	for i, u := range units {
		changes.Put(r.unitKey(u.key), u.content[:])
		if i > 0 {
			packed = append(packed, u.packed...)
		}
	}
	changes.Put(r.logKey(r.nextLog.Add(1)-1), packed)
	if err := r.journal.commit(changes); err != nil {
		return 0, fmt.Errorf("%w: %w", errNotKept, err)
	}
	r.logged.Add(int64(len(packed) + entryBytes))
	return reportsIn(units), nil
}
