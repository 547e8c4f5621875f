package jetstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hushgrad/hushgrad/fl"
)

// maxObjectBytes bounds an object of a snapshot.
const maxObjectBytes = 1 << 30

// load makes the shard what its manifest says. From then on no other member can write it.
func (s *shard) load(ctx context.Context) error {
	s.cleaner.objects, s.cleaner.rounds = nil, nil
	s.cleaner.left.Store(true) // a member that was killed may have left some
	m, err := s.claim(ctx)
	if err != nil {
		return err
	}
	s.at, s.saved, s.since, s.fenced = slices.Clone(m.Positions), slices.Clone(m.Positions), 0, false
	s.tallies = map[[32]byte]*tally{}
	for _, e := range m.Rounds {
		t, err := s.loadTally(ctx, e)
		if err != nil {
			return fmt.Errorf("round %s: %w", e.description.ID, err)
		}
		s.tallies[e.digest] = t
	}
	return s.ids.keep(s.tallies)
}

// claim reads the manifest and writes it again under this member's name. That this succeeds shows
// that it was the newest one.
func (s *shard) claim(ctx context.Context) (m manifest, err error) {
	err = again(ctx, func(ctx context.Context) error {
		found, err := s.table.Get(ctx, manifestKey(s.index))
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			m, s.revision = manifest{Positions: make([]uint64, len(s.lanes))}, 0
		case err != nil:
			return err
		default:
			if m, err = parseManifest(found.Value(), len(s.lanes)); err != nil {
				return fmt.Errorf("manifest of shard %d: %w", s.index, err)
			}
			s.revision = found.Revision()
		}
		m.Holder = s.holder
		data, err := m.marshal()
		if err != nil {
			return err
		}
		s.revision, err = s.table.Update(ctx, manifestKey(s.index), data, s.revision)
		return err // a newer one is read in the next try
	})
	return m, err
}

// loadTally returns the tally of a round as its snapshot has it.
func (s *shard) loadTally(ctx context.Context, e entry) (*tally, error) {
	t, err := newTally(e.description, s.keys, len(s.lanes))
	if err != nil {
		return nil, err
	}
	t.reports, t.rejected, t.head, t.stored, t.ended = e.Reports, e.Rejected, e.Head, e.Sum, e.Ended
	if e.Sum != "" {
		if t.sum, err = s.sum(ctx, t, s.index, e.Sum); err != nil {
			return nil, err
		}
	}
	return t, s.fetchIDs(ctx, t)
}

// fetchIDs makes the ids on this disk the ids of a tally's snapshot.
func (s *shard) fetchIDs(ctx context.Context, t *tally) error {
	have, err := s.ids.head(t.digest)
	if err != nil || have == t.head {
		return err
	}
	var missing [][]id
	name := t.head
	for name != "" && name != have {
		found, err := s.segment(ctx, t, name)
		if err != nil {
			return err
		}
		missing = append(missing, found.ids)
		name = found.before
	}
	if name != have { // what is here belongs to another line of snapshots
		if err := s.ids.drop(t.digest); err != nil {
			return err
		}
	}
	for _, ids := range missing {
		if err := s.ids.add(t.digest, partly, ids); err != nil {
			return err
		}
	}
	return s.ids.add(t.digest, t.head, nil)
}

// segment fetches a segment of ids.
func (s *shard) segment(ctx context.Context, t *tally, name string) (segment, error) {
	data, err := s.fetch(ctx, t.box, "ids", s.index, name)
	if err != nil {
		return segment{}, err
	}
	return parseSegment(data)
}

// sum fetches what a shard has added up.
func (c *Cluster) sum(ctx context.Context, t *tally, shard int, name string) (fl.Aggregator, error) {
	data, err := c.fetch(ctx, t.box, "sum", shard, name)
	if err != nil {
		return nil, err
	}
	sum := t.mechanism.NewAggregator()
	return sum, sum.UnmarshalBinary(data)
}

// fetch returns what is in an object.
func (c *Cluster) fetch(ctx context.Context, b *box, what string, shard int, name string) (plaintext []byte, err error) {
	err = againWithin(ctx, objectTime, func(ctx context.Context) error {
		object, err := c.snapshots.Get(ctx, name)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(io.LimitReader(object, maxObjectBytes+1))
		if err := errors.Join(err, object.Close()); err != nil {
			return err
		}
		if len(data) > maxObjectBytes {
			return fl.Invalid("object", name, "must have at most %d bytes", maxObjectBytes)
		}
		plaintext, err = b.open(what, shard, name, data)
		return err
	})
	return plaintext, err
}
