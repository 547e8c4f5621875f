package jetstream

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/hushgrad/hushgrad/server/journal"
)

// idStore has the ids of the reports in a shard's snapshots. It is a copy of what the object store
// has, on this member's disk, so that they need not be in memory:
//
//	jetstream/<shard>/head/<digest>      the newest segment whose ids are here
//	jetstream/<shard>/id/<digest><id>
type idStore struct {
	journal journal.Journal
	shard   int
}

func (s idStore) heads() []byte { return fmt.Appendf(nil, "jetstream/%d/head/", s.shard) }

func (s idStore) headKey(digest [32]byte) []byte { return append(s.heads(), digest[:]...) }

func (s idStore) prefix(digest [32]byte) []byte {
	return append(fmt.Appendf(nil, "jetstream/%d/id/", s.shard), digest[:]...)
}

// has reports whether an id is here.
func (s idStore) has(digest [32]byte, one id) (bool, error) {
	_, err := s.journal.Get(append(s.prefix(digest), one[:]...))
	if errors.Is(err, journal.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// partly stands in the place of a head while segments are being read: if that is interrupted, the
// ids here are no snapshot's.
const partly = "partly"

// add adds the ids of a segment. From then on the ids here are the ids of all segments up to head.
func (s idStore) add(digest [32]byte, head string, ids []id) error {
	var b journal.Batch
	for _, one := range ids {
		b.Put(append(s.prefix(digest), one[:]...), nil)
	}
	b.Put(s.headKey(digest), []byte(head))
	return s.journal.Commit(&b)
}

// head returns the segment up to which the ids are here, "" for none.
func (s idStore) head(digest [32]byte) (string, error) {
	head, err := s.journal.Get(s.headKey(digest))
	if errors.Is(err, journal.ErrNotFound) {
		return "", nil
	}
	return string(head), err
}

// drop forgets a round.
func (s idStore) drop(digest [32]byte) error {
	var b journal.Batch
	prefix, head := s.prefix(digest), s.headKey(digest)
	b.Delete(prefix, journal.After(prefix))
	b.Delete(head, append(head, 0))
	return s.journal.Commit(&b)
}

// keep forgets all rounds but these.
func (s idStore) keep(tallies map[[32]byte]*tally) error {
	var gone [][32]byte
	for pair, err := range s.journal.Scan(s.heads(), journal.After(s.heads())) {
		if err != nil {
			return err
		}
		digest, ok := bytes.CutPrefix(pair.Key, s.heads())
		if !ok || len(digest) != 32 {
			return fmt.Errorf("key %q: it must end with a digest", pair.Key)
		}
		if tallies[[32]byte(digest)] == nil {
			gone = append(gone, [32]byte(digest))
		}
	}
	for _, digest := range gone {
		if err := s.drop(digest); err != nil {
			return err
		}
	}
	return nil
}
