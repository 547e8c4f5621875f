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
// a round that asks for tokens a report.
type unit struct {
	key     string   // tells units of a round apart
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

// submit counts the units that were not counted before, all of them or none. When it returns
// without an error they are in the journal.
func (r *round) submit(ctx context.Context, units []unit) (receipt, error) {
	release, err := r.claim(ctx, units)
	if err != nil {
		return receipt{}, err
	}
	defer release()
	fresh, got, err := r.fresh(units)
	if err != nil || len(fresh) == 0 {
		return got, err
	}
	if err := r.verify(ctx, fresh); err != nil {
		return receipt{}, err
	}
	if err := r.begin(got.accepted); err != nil {
		return receipt{}, err
	}
	err = errInterrupted // stays so if the mechanism panics
	defer func() { r.end(got.accepted, err) }()
	err = r.count(ctx, fresh)
	return got, err
}

// claim keeps other calls from deciding about the same units, until release is called. It
// waits while another call decides about one of them.
func (r *round) claim(ctx context.Context, units []unit) (release func(), err error) {
	mine := &claim{units: units, done: make(chan struct{})}
	for {
		other, err := r.claims.add(mine)
		switch {
		case err != nil:
			return nil, err
		case other == nil:
			return func() { r.claims.remove(mine) }, nil
		}
		select {
		case <-other.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// fresh returns the units that are not in the journal, and what the receipt will say.
func (r *round) fresh(units []unit) (fresh []unit, got receipt, err error) {
	seen := map[string]unit{}
	for _, u := range units {
		if v, twice := seen[u.key]; twice {
			if v.content != u.content {
				return nil, receipt{}, u.otherContent()
			}
			got.duplicates += int64(len(u.reports))
			continue
		}
		seen[u.key] = u
		counted, err := r.journal.Get(r.unitKey(u.key))
		switch {
		case errors.Is(err, journal.ErrNotFound):
			fresh = append(fresh, u)
			got.accepted += int64(len(u.reports))
		case err != nil:
			return nil, receipt{}, err
		case string(counted) != string(u.content[:]):
			return nil, receipt{}, u.otherContent()
		default:
			got.duplicates += int64(len(u.reports))
		}
	}
	return fresh, got, nil
}

func (u unit) otherContent() error {
	if u.token != nil {
		return because(errSpent, "tokens", fmt.Sprintf("one with the id %x", u.key), "must be new for another report")
	}
	return fl.Invalid("batch_key", fmt.Sprintf("%x", u.key), "must be new for new reports: it was used for others")
}

// count adds units to an aggregator and then to the journal. After an error the aggregators
// are not what the journal has, unless the mechanism refused a report.
func (r *round) count(ctx context.Context, units []unit) error {
	changes := &journal.Batch{}
	reports, packed := units[0].reports, units[0].packed
	for i, u := range units {
		changes.Put(r.unitKey(u.key), u.content[:])
		if i > 0 {
			reports, packed = append(reports, u.reports...), append(packed, u.packed...)
		}
	}
	start := time.Now()
	if err := r.shards.add(ctx, reports); err != nil {
		return err
	}
	r.metrics.decoded(start)
	changes.Put(r.logKey(r.nextLog.Add(1)-1), packed)
	if err := r.journal.commit(changes); err != nil {
		return fmt.Errorf("%w: %w", errNotKept, err)
	}
	r.logged.Add(int64(len(packed) + entryBytes))
	return nil
}
