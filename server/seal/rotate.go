package seal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/durable"
)

// newestAt is the key of new rounds at a time, of keys of which the newest is the first. A key that is pending is the one of new rounds where there is
// no other: its time has come before, by a clock that was ahead. It is nil where there is no key.
func newestAt(all []*Key, now time.Time) *Key {
	if i := slices.IndexFunc(all, func(k *Key) bool { return !k.Pending(now) }); i >= 0 {
		return all[i]
	}
	if len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// Rotate draws a key that is pending: new rounds have it from the time on, so that clients can learn its fingerprint
// before. At that time all other keys end. They open the reports of rounds that name them, until Sweep removes them. The error is a
// *fl.ParamError (wrapped) while another key is pending.
//
// An end is written before the new key. After a crash in between, the keys are what they were: a key that has ended and has
// no successor is the key of new rounds. Call Rotate again.
func (k *Keys) Rotate(s Suite, from time.Time) (*Key, error) {
	all, err := k.All()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for _, other := range all {
		if other.Pending(now) {
			return nil, fmt.Errorf("seal: keys: %w", fl.Invalid("rotation", other.from.Format(time.RFC3339),
				"must be over before the next one: wait until then, or remove %s", k.file(other)))
		}
	}
	key, err := GenerateKey(s)
	if err != nil {
		return nil, err
	}
	key.from, key.changed = from, from
	for _, other := range all {
		if other.until.IsZero() || other.until.After(now) || other == newestAt(all, now) {
			other.from, other.until = other.changed, from
			if err := k.put(other); err != nil {
				return nil, err
			}
		}
	}
	return key, k.put(key)
}

// Sweep removes the keys that Rotate has ended and that no round needs any more, and returns their fingerprints. The key of
// new rounds stays. needed says whether a round names a public key.
func (k *Keys) Sweep(needed func(public []byte) bool) (removed []Fingerprint, err error) {
	all, err := k.All()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	newest := newestAt(all, now)
	for _, key := range all {
		if key == newest || key.until.IsZero() || key.until.After(now) || now.Before(k.end(key)) || needed(key.public) {
			continue
		}
		if err := k.remove(key.Fingerprint()); err != nil {
			return removed, fmt.Errorf("seal: keys: %w", err)
		}
		removed = append(removed, key.Fingerprint())
	}
	return removed, nil
}

// measure notes when keys end: when the time that was left when this process saw their end first has passed.
func (k *Keys) measure(all []*Key, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	ends := map[ending]time.Time{} // of the keys that there are
	for _, key := range all {
		e := ending{key.Fingerprint(), key.until.UnixNano()}
		if known, ok := k.ends[e]; ok {
			ends[e] = known
		} else if !key.until.IsZero() {
			ends[e] = now.Add(key.until.Sub(now))
		}
	}
	k.ends = ends
}

// end returns what measure has noted.
func (k *Keys) end(key *Key) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ends[ending{key.Fingerprint(), key.until.UnixNano()}]
}

// remove removes the file of a key, whatever its name is.
func (k *Keys) remove(f Fingerprint) error {
	files, err := filepath.Glob(filepath.Join(k.dir, "*"+keySuffix))
	for _, file := range files {
		if key, unread := read(file); unread == nil && key.Fingerprint() == f {
			err = errors.Join(err, os.Remove(file))
		}
	}
	return errors.Join(err, durable.SyncDir(k.dir))
}
