package ledger

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// MaxKept is the largest number of bytes that an entry keeps. Two reports of 2^24 coordinates of 64 bits fit.
const MaxKept = 256<<20 + 1<<16

// Keep stores bytes with a reserved entry, durably, in place of what it kept before: 1 to MaxKept
// of them. They are there until the entry is released or its receipt is noted. Errors and cost
// are Spend's. It takes three times the memory of the bytes, and up to twice their room in the file while they take the place of
// others. The file does not shrink: the next bytes take that room.
func (l *Ledger) Keep(id ID, data []byte) (err error) {
	defer prefix.Error(&err, "ledger: keep")
	if len(data) < 1 || len(data) > MaxKept {
		return fl.Invalid("data", fmt.Sprintf("%d bytes", len(data)), "must have 1 to %d", MaxKept)
	}
	return l.update(func(tx *bolt.Tx) error {
		e, err := getEntry(tx, id)
		if err != nil {
			return err
		}
		if e.State != Reserved {
			return fmt.Errorf("entry %v is %v: %w", id, e.State, ErrState)
		}
		return tx.Bucket(keptBucket).Put(id.key(), sealBytes(id.key(), data))
	})
}

// Kept returns what an entry keeps, or nil if it keeps nothing. The error wraps ErrUnknown if
// there is no such entry.
func (l *Ledger) Kept(id ID) (data []byte, err error) {
	defer prefix.Error(&err, "ledger: kept")
	err = l.view(func(tx *bolt.Tx) error {
		if _, err := getEntry(tx, id); err != nil {
			return err
		}
		sealed := tx.Bucket(keptBucket).Get(id.key())
		if sealed == nil {
			return nil
		}
		kept, err := decodeKept(id, sealed)
		data = bytes.Clone(kept)
		return err
	})
	return data, err
}

// Find returns the entry that counts for a purpose and the digest of a round: there is at most
// one that was not released. The error wraps ErrUnknown if there is none. Cost: reading all
// entries.
func (l *Ledger) Find(purpose string, round [32]byte) (found Entry, err error) {
	defer prefix.Error(&err, "ledger: find")
	err = l.view(func(tx *bolt.Tx) error {
		return eachEntry(tx, func(e Entry) error {
			if e.State != Released && e.Charge.Purpose == purpose && e.Charge.Round == round {
				found = e
			}
			return nil
		})
	})
	if err == nil && found.ID == 0 {
		err = fmt.Errorf("round %x of purpose %q: %w", round, purpose, ErrUnknown)
	}
	if err != nil {
		return Entry{}, err
	}
	return found, nil
}

// decodeKept returns what an entry keeps, as a part of sealed.
func decodeKept(id ID, sealed []byte) (data []byte, err error) {
	if data, err = unsealBytes(id.key(), sealed); err == nil && len(data) == 0 {
		err = fl.Invalid("data", "0 bytes", "must have at least 1")
	}
	if err != nil {
		return nil, fmt.Errorf("kept by entry %v: %w: %w", id, ErrDamaged, err)
	}
	return data, nil
}

// upgradeKept stores what files up to version 3 keep as JSON.
func upgradeKept(tx *bolt.Tx) error {
	b := tx.Bucket(keptBucket)
	raw := map[ID][]byte{}
	err := b.ForEach(func(key, sealed []byte) error {
		var data []byte
		id := ID(binary.BigEndian.Uint64(key))
		if err := unseal(key, sealed, &data); err != nil {
			return fmt.Errorf("kept by entry %v: %w: %w", id, ErrDamaged, err)
		}
		raw[id] = data
		return nil
	})
	for id, data := range raw {
		if err == nil {
			err = b.Put(id.key(), sealBytes(id.key(), data))
		}
	}
	return err
}

// checkKept checks that all that is kept is sound, and kept by entries that have not ended.
func checkKept(tx *bolt.Tx) error {
	return tx.Bucket(keptBucket).ForEach(func(key, sealed []byte) error {
		if len(key) != 8 {
			return fmt.Errorf("kept: %w: %w", ErrDamaged, fl.Invalid("key", fmt.Sprintf("%d bytes", len(key)), "must have 8"))
		}
		id := ID(binary.BigEndian.Uint64(key))
		e, err := getEntry(tx, id)
		if err == nil && e.ended() {
			err = fl.Invalid("state", e.State, "must be %v or %v", Reserved, Spent)
		}
		if err != nil {
			return fmt.Errorf("kept by entry %v: %w: %w", id, ErrDamaged, err)
		}
		_, err = decodeKept(id, sealed)
		return err
	})
}
