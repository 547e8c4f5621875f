package jetstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// save makes what was read since the last snapshot durable. Afterwards the messages are needed no
// more. The error wraps errFenced when another member has written the manifest.
func (s *shard) save(ctx context.Context) error {
	m := manifest{Holder: s.holder, Positions: s.at}
	heads := map[*tally]string{}
	for _, t := range s.tallies {
		head, sum, err := s.store(ctx, t)
		if err != nil {
			return fmt.Errorf("round %s: %w", t.description.ID, err)
		}
		if sum != t.stored {
			s.cleaner.object(t.stored)
		}
		heads[t], t.stored = head, sum
		e := entry{Reports: t.reports, Rejected: t.rejected, Sum: sum, Head: head, Ended: t.ended}
		if e.Round, err = t.description.MarshalBinary(); err != nil {
			return err
		}
		m.Rounds = append(m.Rounds, e)
	}
	slices.SortFunc(m.Rounds, func(a, b entry) int { return bytes.Compare(a.Round, b.Round) })
	data, err := m.marshal()
	if err != nil {
		return err
	}
	if err := s.replace(ctx, data); err != nil {
		return err
	}
	for t, head := range heads {
		if head == t.head {
			continue
		}
		if err := s.ids.add(t.digest, head, slices.Collect(maps.Keys(t.recent))); err != nil {
			return err
		}
		t.head = head
		clear(t.recent)
	}
	s.saved, s.since, s.fenced = slices.Clone(s.at), 0, false
	s.board.note(func(now *standing) { now.snapshot = time.Now() })
	s.cleaner.start(s.saved)
	return nil
}

// store puts what is new of a round into the object store, and returns the names of the newest
// segment and of the sum.
func (s *shard) store(ctx context.Context, t *tally) (head, sum string, err error) {
	if len(t.recent) == 0 {
		return t.head, t.stored, nil
	}
	ids := slices.Collect(maps.Keys(t.recent))
	if head, err = s.put(ctx, t, "ids", segment{t.head, ids}.marshal()); err != nil {
		return "", "", err
	}
	aggregator, err := t.sum.MarshalBinary()
	if err != nil {
		return "", "", err
	}
	sum, err = s.put(ctx, t, "sum", aggregator)
	return head, sum, err
}

// put puts an object into the object store.
func (s *shard) put(ctx context.Context, t *tally, what string, plaintext []byte) (name string, err error) {
	name, object := t.box.seal(what, s.index, plaintext)
	return name, againWithin(ctx, objectTime, func(ctx context.Context) error {
		_, err := s.snapshots.PutBytes(ctx, name, object)
		return err
	})
}

func manifestKey(index int) string { return fmt.Sprintf("manifest.%d", index) }

// replace writes the manifest if it is still the one that this member wrote last.
func (s *shard) replace(ctx context.Context, data []byte) error {
	key := manifestKey(s.index)
	return again(ctx, func(ctx context.Context) error {
		trying, cancel := context.WithTimeout(ctx, attempt)
		defer cancel()
		revision, err := s.table.Update(trying, key, data, s.revision)
		if err == nil {
			s.revision = revision
			return nil
		}
		found, seen := s.table.Get(ctx, key)
		switch {
		case seen != nil || found.Revision() <= s.revision: // the brokers are busy
			return err
		case !bytes.Equal(found.Value(), data):
			return fmt.Errorf("%w: shard %d", errFenced, s.index)
		}
		s.revision = found.Revision() // the answer was lost
		return nil
	})
}

// cleaner deletes what no manifest needs any more, while the shard works. Objects that it does not get to
// are left: they cost room and nothing else.
type cleaner struct {
	*shard
	busy    chan struct{} // holds a value while it is at work
	left    atomic.Bool   // messages may be there that a snapshot covers
	objects []string
	rounds  []*tally
}

func (c *cleaner) object(name string) {
	if name != "" {
		c.objects = append(c.objects, name)
	}
}

func (c *cleaner) round(t *tally) { c.rounds = append(c.rounds, t) }

// cleaningTime bounds the work after one snapshot.
const cleaningTime = 10 * time.Second

// finish deletes messages that are left of earlier snapshots, so that messages which are there wait for one.
func (c *cleaner) finish(read []uint64) {
	if c.left.Load() {
		c.start(read)
	}
}

// start deletes in the background, unless it is still at work: then the next start or finish does.
func (c *cleaner) start(read []uint64) {
	select {
	case c.busy <- struct{}{}:
	default:
		c.left.Store(true)
		return
	}
	c.left.Store(false)
	objects, rounds := c.objects, c.rounds
	c.objects, c.rounds = nil, nil
	go func() {
		defer func() { <-c.busy }()
		ctx, cancel := context.WithTimeout(context.Background(), cleaningTime)
		defer cancel()
		for lane, number := range read {
			if number == 0 {
				continue
			}
			err := c.lanes[lane].Purge(ctx, jetstream.WithPurgeSubject(c.reportSubject(lane, c.index)), jetstream.WithPurgeSequence(number+1))
			if err != nil {
				c.left.Store(true)
				c.logger.Debug("messages are left", "lane", lane, "error", err)
			}
		}
		for _, t := range rounds {
			objects = append(objects, t.stored)
			objects = append(objects, c.segments(ctx, t)...)
		}
		for _, name := range objects {
			if err := c.snapshots.Delete(ctx, name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
				c.logger.Debug("an object is left", "name", name, "error", err)
			}
		}
	}()
}

// segments returns the names of all segments of a round.
func (c *cleaner) segments(ctx context.Context, t *tally) (names []string) {
	for name := t.head; name != ""; {
		found, err := c.segment(ctx, t, name)
		if err != nil {
			c.logger.Debug("objects are left", "round", t.description.ID, "error", err)
			return names
		}
		names = append(names, name)
		name = found.before
	}
	return names
}

// wait waits for the end of the work.
func (c *cleaner) wait() {
	c.busy <- struct{}{}
	<-c.busy
}
