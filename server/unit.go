package server

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
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

func (u unit) otherContent() error {
	if u.token != nil {
		return because(errSpent, "tokens", fmt.Sprintf("one with the id %x", u.key), "must be new for another report")
	}
	return fl.Invalid("batch_key", fmt.Sprintf("%x", u.key), "must be new for new reports: it was used for others")
}

func reportsIn(units []unit) (n int64) {
	for _, u := range units {
		n += int64(len(u.reports))
	}
	return n
}

// keysOf returns the keys of units.
func keysOf(units []unit) []string {
	keys := make([]string, len(units))
	for i, u := range units {
		keys[i] = u.key
	}
	return keys
}

// apart returns the first unit with each key, and the others.
func apart(units []unit) (once, again []unit) {
	seen := make(map[string]bool, len(units))
	once = units[:0]
	for _, u := range units {
		if seen[u.key] {
			again = append(again, u)
			continue
		}
		seen[u.key] = true
		once = append(once, u)
	}
	return once, again
}

// tokenKey is the key of a unit with this token.
func tokenKey(token []byte) string {
	key := sha256.Sum256(token)
	return string(key[:16])
}
