package issuer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/server/journal"
)

// What the issuer keeps in its journal:
//
//	issuer/key/<round id>             a record, as JSON
//	issuer/token/<key id><client>     SHA-256 of the message that was signed
//
// The id of a key has 32 bytes. The client is the HMAC of its identity, 32 bytes.
const (
	keyPrefix   = "issuer/key/"
	tokenPrefix = "issuer/token/"
)

// KeyInfo describes the keys of a round.
type KeyInfo struct {
	RoundID string
	// PublicKey is for fl.Round.IssuerKey, OuterPublicKey for fl.Round.OuterIssuerKey in a round
	// with a shuffler.
	PublicKey, OuterPublicKey []byte
	// Expires is when the keys end.
	Expires time.Time
	// Issued is the number of clients that have had a token under PublicKey.
	Issued int64
}

// CreateKey makes the two keys of a round, durably. expires is in the future and at most MaxLife
// ahead; the zero time stands for DefaultLife from now. For a round that has keys it returns
// those, unless another expiry is asked for, which is ErrOtherExpiry. The error wraps ErrLimit
// when Config.MaxKeys rounds have keys. The keys are usually made already; the next ones take about
// half a second.
func (i *Issuer) CreateKey(ctx context.Context, roundID string, expires time.Time) (_ KeyInfo, err error) {
	defer prefix.Error(&err, "issuer: create key")
	if err := checkRoundID(roundID); err != nil {
		return KeyInfo{}, err
	}
	now := i.cfg.Now()
	end := expires
	if expires.IsZero() {
		end = now.Add(DefaultLife)
	}
	if !end.After(now) || end.After(now.Add(MaxLife)) {
		return KeyInfo{}, fl.Invalid("expires", expires.UTC().Format(time.RFC3339), "must be in the future and at most %d days ahead: here it is %s",
			MaxLife/(24*time.Hour), now.UTC().Format(time.RFC3339))
	}
	select {
	case i.creating <- struct{}{}:
		defer func() { <-i.creating }()
	case <-ctx.Done():
		return KeyInfo{}, ctx.Err()
	}
	keys := i.Keys()
	for _, k := range keys {
		switch {
		case k.RoundID != roundID:
		case !expires.IsZero() && !k.Expires.Equal(expires):
			return KeyInfo{}, fmt.Errorf("%w: %w", ErrOtherExpiry, fl.Invalid("expires", expires.UTC().Format(time.RFC3339Nano),
				"must be %s, or the key must be dropped first", k.Expires.Format(time.RFC3339Nano)))
		default:
			return k, nil
		}
	}
	if len(keys) >= i.cfg.MaxKeys {
		return KeyInfo{}, fmt.Errorf("%w: %w", ErrLimit, fl.Invalid("round_id", roundID, "must wait: there are %d keys, drop one", len(keys)))
	}
	private, err := i.spare.take(ctx)
	if err != nil {
		return KeyInfo{}, err
	}
	k, err := newKey(roundID, end, private)
	if err != nil {
		return KeyInfo{}, err
	}
	data, err := json.Marshal(k.record)
	if err != nil {
		return KeyInfo{}, err
	}
	var b journal.Batch
	b.Put([]byte(keyPrefix+roundID), data)
	if err := i.journal.Commit(&b); err != nil {
		return KeyInfo{}, err
	}
	k.measure(i.cfg.Now())
	i.mu.Lock()
	i.keys[roundID] = k
	i.mu.Unlock()
	i.cfg.Logger.Info("key made", "round", roundID, "expires", k.record.Expires)
	return k.info(), nil
}

// DropKey destroys the keys of a round and the record of who had a token under them, durably. It
// waits for calls that sign with them. The error wraps ErrNoKey if there are none.
func (i *Issuer) DropKey(roundID string) (err error) {
	defer prefix.Error(&err, "issuer: drop key")
	i.mu.Lock()
	k := i.keys[roundID]
	i.mu.Unlock()
	if k == nil {
		return fmt.Errorf("%w: %w", ErrNoKey, fl.Invalid("round_id", roundID, "must be the round of a key"))
	}
	return i.drop(k, "dropped")
}

// drop deletes a key unless another call has done so.
func (i *Issuer) drop(k *key, why string) error {
	k.use.Lock()
	defer k.use.Unlock()
	if k.dropped {
		return nil
	}
	name := []byte(keyPrefix + k.record.RoundID)
	var b journal.Batch
	b.Delete(name, append(name, 0)) // this round's alone
	for _, s := range []*signer{k.inner, k.outer} {
		tokens := []byte(tokenPrefix + string(s.id[:]))
		b.Delete(tokens, journal.After(tokens))
	}
	if err := i.journal.Commit(&b); err != nil {
		return err
	}
	k.dropped = true
	i.mu.Lock()
	delete(i.keys, k.record.RoundID)
	i.mu.Unlock()
	i.cfg.Logger.Info("key "+why, "round", k.record.RoundID, "issued", k.issued.Load())
	return nil
}

// Keys describes the keys in the order of their round ids, after it has deleted those that have
// expired.
func (i *Issuer) Keys() []KeyInfo {
	i.mu.Lock()
	all := slices.Collect(maps.Values(i.keys))
	i.mu.Unlock()
	var out []KeyInfo
	for _, k := range all {
		if i.expired(k) {
			if err := i.drop(k, "expired"); err != nil {
				i.cfg.Logger.Error("an expired key could not be deleted", "round", k.record.RoundID, "error", err)
			}
			continue
		}
		out = append(out, k.info())
	}
	slices.SortFunc(out, func(a, b KeyInfo) int { return strings.Compare(a.RoundID, b.RoundID) })
	return out
}

func (i *Issuer) expired(k *key) bool { return !i.cfg.Now().Before(k.ends) }

// measure makes the key end when the time that is left at now has passed.
func (k *key) measure(now time.Time) { k.ends = now.Add(k.record.Expires.Sub(now)) }

// restore reads the keys in the journal and counts the tokens under them.
func (i *Issuer) restore() error {
	prefix := []byte(keyPrefix)
	for pair, err := range i.journal.Scan(prefix, journal.After(prefix)) {
		if err != nil {
			return err
		}
		k, err := parseRecord(pair.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", pair.Key, err)
		}
		if string(pair.Key) != keyPrefix+k.record.RoundID {
			return fmt.Errorf("%s: %w", pair.Key, fl.Invalid("round_id", k.record.RoundID, "must be the entry's"))
		}
		k.measure(i.cfg.Now())
		i.keys[k.record.RoundID] = k
	}
	for _, k := range i.keys {
		tokens := []byte(tokenPrefix + string(k.inner.id[:]))
		for _, err := range i.journal.Scan(tokens, journal.After(tokens)) {
			if err != nil {
				return err
			}
			k.issued.Add(1)
		}
	}
	return nil
}
