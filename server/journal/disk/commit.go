package disk

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

// freeingBytes is how much a batch that deletes may add and still be accepted on a full disk, such as the end of what it deletes.
const freeingBytes = 16 << 10

// maxBatchBytes bounds a batch, which is in memory as a whole: a model of 1 GiB and its key.
const maxBatchBytes = 1<<30 + 64<<10

// commits are the batches that wait for the disk. Those that wait together are written together.
type commits struct {
	writing sync.Mutex // held by the caller who writes

	mu      sync.Mutex
	waiting []*waiting
	writes  uint64
	waited  time.Duration
}

// waiting is a batch with what became of it. Who holds writing may look at it.
type waiting struct {
	batch *journal.Batch
	adds  bool // and does not free more than it adds
	done  bool
	err   error
}

// join returns the batches that are written next.
func (c *commits) join() []*waiting {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, size := 0, 0
	for n < len(c.waiting) && (n == 0 || size+c.waiting[n].batch.Bytes() <= maxBatchBytes) {
		size += c.waiting[n].batch.Bytes()
		n++
	}
	group := c.waiting[:n:n]
	c.waiting = c.waiting[n:]
	return group
}

// Commit implements journal.Journal. It returns after the operating system has said that the
// batch is on disk. Commits that come at the same time share one such wait. A batch that
// deletes, and adds at most 16 KiB, is accepted on a full disk, too, where it finds room in the file or in the
// reserve of 256 KiB.
// Limits: 1 GiB, keys of 32 KiB. Cost: two waits for the disk, shared.
func (j *Journal) Commit(b *journal.Batch) error {
	if err := j.usable(); err != nil {
		return err
	}
	added, deletes := 0, false
	for _, c := range b.Changes() {
		if c.To == nil && (len(c.Key) == 0 || len(c.Key) > bolt.MaxKeySize) {
			return fl.Invalid("key", fmt.Sprintf("%d bytes", len(c.Key)), "must have 1 to %d", bolt.MaxKeySize)
		}
		if c.To == nil {
			added += len(c.Key) + len(c.Value)
		}
		deletes = deletes || c.To != nil
	}
	adds := added > 0 && !(deletes && added <= freeingBytes)
	switch size := int64(b.Bytes()); {
	case len(b.Changes()) == 0:
		return nil
	case size > maxBatchBytes:
		return fl.Invalid("batch", size, "must be at most %d bytes", maxBatchBytes)
	case adds:
		if err := j.room.take(2 * size); err != nil { // pages are at least half full
			return err
		}
	}
	w := &waiting{batch: b, adds: adds}
	j.commits.mu.Lock()
	j.commits.waiting = append(j.commits.waiting, w)
	j.commits.mu.Unlock()
	j.commits.writing.Lock()
	defer j.commits.writing.Unlock()
	for !w.done { // somebody else has written it, or it is written now, with what waits before it
		j.writeAll(j.commits.join())
	}
	return w.err
}

// writeAll writes batches. Where the disk has no room, those that free are written in the reserve's.
func (j *Journal) writeAll(group []*waiting) {
	err := j.write(group)
	if errors.Is(err, journal.ErrFull) {
		var deletions []*waiting
		for _, g := range group {
			if g.adds {
				g.done, g.err = true, err
			} else {
				deletions = append(deletions, g)
			}
		}
		if group = deletions; len(group) > 0 {
			if err = j.reserve.release(); err == nil {
				err = j.write(group)
			}
		}
	}
	for _, g := range group {
		g.done, g.err = true, err
	}
	j.keepReserve()
}

// keepReserve makes the reserve where there is room for it.
func (j *Journal) keepReserve() {
	if j.reserve.held.Load() || j.usable() != nil {
		return
	}
	if free, err := j.room.free(j.dir); err != nil || free < uint64(j.room.minFree)+reserveBytes {
		return
	}
	if err := j.reserve.make(); err != nil {
		j.logger.Warn("journal: a deletion may find no room on a full disk", "error", err)
	}
}

// write makes the changes of all batches, or none of them.
func (j *Journal) write(group []*waiting) error {
	if err := j.usable(); err != nil {
		return err
	}
	before, err := kind.Newest(j.file.Descriptor)
	if err != nil {
		return j.fail(err)
	}
	began := time.Now()
	err = kind.Guard(func() error {
		return j.file.Update(func(tx *bolt.Tx) error {
			t, err := readTotal(tx)
			if err != nil {
				return err
			}
			for _, w := range group {
				for _, c := range w.batch.Changes() {
					if err := t.change(tx.Bucket(pairsBucket), c); err != nil {
						return err
					}
				}
			}
			return t.write(tx)
		})
	})
	if err == nil {
		j.commits.mu.Lock()
		defer j.commits.mu.Unlock()
		j.commits.writes++
		j.commits.waited += time.Since(began)
		return nil
	}
	// Without room the pages that were to change are as they were, unless the header was written.
	if after, e := kind.Newest(j.file.Descriptor); isFull(err) && e == nil && after == before {
		return j.room.exhausted(err)
	}
	return j.fail(err)
}

// change makes a change, and keeps the total.
func (t *total) change(pairs *bolt.Bucket, c journal.Change) error {
	if c.To == nil {
		if old := pairs.Get(c.Key); old != nil {
			if err := t.remove(old); err != nil {
				return err
			}
		}
		sealed := seal(c.Key, c.Value)
		t.add(sealed)
		return pairs.Put(c.Key, sealed)
	}
	var gone [][]byte // a cursor must not move while its bucket changes
	cursor := pairs.Cursor()
	for key, sealed := cursor.Seek(c.Key); key != nil && bytes.Compare(key, c.To) < 0; key, sealed = cursor.Next() {
		if err := t.remove(sealed); err != nil {
			return err
		}
		gone = append(gone, key)
	}
	for _, key := range gone {
		if err := pairs.Delete(key); err != nil {
			return err
		}
	}
	return nil
}
