package translog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

// Kind says what an entry is about.
type Kind string

// The kinds of entries.
const (
	// Round is a round that clients are shown. SHA256 is fl.Round.Digest.
	Round Kind = "round"
	// Key is a key that a round names, or a gateway's. SHA256 is the key's as the round has it, and of a gateway's the key configuration's.
	Key Kind = "key"
	// Release is an estimate that left. SHA256 is EstimateDigest, and Description the round's.
	Release Kind = "release"
	// Model is a published model. SHA256 is the data's.
	Model Kind = "model"
)

// MaxEntryBytes bounds an entry.
const MaxEntryBytes = 2 << 10

// Digest is a SHA-256, in JSON 64 hexadecimal digits.
type Digest [sha256.Size]byte

// String returns the digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText implements encoding.TextMarshaler.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Digest) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(d) {
		return fl.Invalid("sha256", string(text), "must have 64 hexadecimal digits")
	}
	copy(d[:], b)
	return nil
}

// Entry is an entry of a log. Fields that do not belong to its kind are zero.
type Entry struct {
	Kind Kind `json:"kind"`
	// Time is when the entry was made, in whole seconds.
	Time time.Time `json:"time"`
	// SHA256 is the digest of what the entry is about.
	SHA256 Digest `json:"sha256"`

	// Round is a round's id. A key has the id of the first round that names it, and a gateway's has none.
	Round string `json:"round,omitempty"`
	// Use is what a key is for: seal, share, issuer, outer_issuer or gateway.
	Use string `json:"use,omitempty"`
	// Mechanism, Dim, Promise, Epsilon and MinReports are a round's. Epsilon is nil without privacy.
	Mechanism  string   `json:"mechanism,omitempty"`
	Dim        int      `json:"dim,omitempty"`
	Promise    string   `json:"promise,omitempty"`
	Epsilon    *float64 `json:"epsilon,omitempty"`
	MinReports int      `json:"min_reports,omitempty"`
	// Description is the digest of the round of a release.
	Description Digest `json:"description,omitzero"`
	// Reports is the number of reports that a release counts.
	Reports int64 `json:"reports,omitempty"`
	// Version and Bytes are a model's.
	Version uint64 `json:"version,omitempty"`
	Bytes   uint64 `json:"bytes,omitempty"`
}

// Marshal returns the entry's bytes.
func (e Entry) Marshal() ([]byte, error) {
	e.Time = e.Time.UTC().Truncate(time.Second)
	data, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("entry: %w", err)
	}
	if len(data) > MaxEntryBytes {
		return nil, fl.Invalid("entry", fmt.Sprintf("%d bytes", len(data)), "must have at most %d", MaxEntryBytes)
	}
	return data, nil
}

// ParseEntry is the inverse of Marshal. It takes no other bytes: an entry says the same to everybody.
func ParseEntry(data []byte) (e Entry, err error) {
	if len(data) > MaxEntryBytes {
		return e, fl.Invalid("entry", fmt.Sprintf("%d bytes", len(data)), "must have at most %d", MaxEntryBytes)
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return Entry{}, fl.Invalid("entry", shown(data), "must be JSON: %v", err)
	}
	switch again, err := e.Marshal(); {
	case err != nil:
		return Entry{}, err
	case !bytes.Equal(again, data):
		return Entry{}, fl.Invalid("entry", shown(data), "must have the fields of this version of hushgrad, as %s", again)
	}
	switch e.Kind {
	case Round, Key, Release, Model:
		return e, nil
	}
	return Entry{}, fl.Invalid("kind", e.Kind, "must be %s, %s, %s or %s: a later version of hushgrad may know it", Round, Key, Release, Model)
}

// shown is the beginning of bytes from elsewhere.
func shown(data []byte) string { return fmt.Sprintf("%.80q", data) }

// identity is the same for entries about the same thing, which a log has once.
func (e Entry) identity() Digest {
	e.Time = time.Time{}
	if e.Kind == Key {
		e.Round = ""
	}
	data, _ := json.Marshal(e) // Marshal has been tried
	return sha256.Sum256(data)
}

// RoundEntries returns the entries about a round that is opened: its keys, and then the round.
func RoundEntries(r fl.Round, promise fl.Guarantee, at time.Time) ([]Entry, error) {
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, key := range []struct {
		use   string
		bytes []byte
	}{{"seal", r.SealKey}, {"share", r.ShareKey}, {"issuer", r.IssuerKey}, {"outer_issuer", r.OuterIssuerKey}} {
		if len(key.bytes) > 0 {
			entries = append(entries, Entry{Kind: Key, Time: at, SHA256: sha256.Sum256(key.bytes), Use: key.use, Round: r.ID})
		}
	}
	return append(entries, Entry{
		Kind: Round, Time: at, SHA256: digest, Round: r.ID, Mechanism: r.Mechanism, Dim: r.Dim, MinReports: r.MinReports,
		Promise: promise.String(), Epsilon: finite(promise.Epsilon),
	}), nil
}

// GatewayEntry returns the entry about the key configuration of a gateway (RFC 9458).
func GatewayEntry(configuration []byte, at time.Time) Entry {
	return Entry{Kind: Key, Time: at, SHA256: sha256.Sum256(configuration), Use: "gateway"}
}

// ReleaseEntry returns the entry about the estimate of a round.
func ReleaseEntry(r fl.Round, estimate *fl.Estimate, at time.Time) (Entry, error) {
	digest, err := r.Digest()
	return Entry{
		Kind: Release, Time: at, SHA256: EstimateDigest(estimate), Round: r.ID, Description: digest, Mechanism: r.Mechanism, Dim: r.Dim,
		Reports: estimate.Reports, Promise: estimate.Guarantee.String(), Epsilon: finite(estimate.Guarantee.Epsilon),
	}, err
}

func finite(epsilon float64) *float64 {
	if math.IsInf(epsilon, 0) || math.IsNaN(epsilon) {
		return nil
	}
	return &epsilon
}

// EstimateDigest is RowsDigest of an estimate: a row for each coordinate has of each column the value, and the
// standard error where the column has errors.
func EstimateDigest(e *fl.Estimate) Digest {
	return RowsDigest(func(yield func([]float64) bool) {
		dim := 0
		if len(e.Columns) > 0 {
			dim = len(e.Columns[0].Value)
		}
		row := make([]float64, 0, 2*len(e.Columns))
		for i := range dim {
			row = row[:0]
			for _, c := range e.Columns {
				row = append(row, c.Value[i])
				if c.StdErr != nil {
					row = append(row, c.StdErr[i])
				}
			}
			if !yield(row) {
				return
			}
		}
	})
}

// RowsDigest is the SHA-256 of the numbers of rows, 8 bytes each (IEEE 754, little-endian).
func RowsDigest(rows iter.Seq[[]float64]) Digest {
	h := sha256.New()
	var numbers []byte
	for row := range rows {
		numbers = numbers[:0]
		for _, v := range row {
			numbers = binary.LittleEndian.AppendUint64(numbers, math.Float64bits(v))
		}
		_, _ = h.Write(numbers) // never fails
	}
	return Digest(h.Sum(nil))
}
