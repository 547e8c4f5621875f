package issuer

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/admit"
)

// key is the key of one round.
type key struct {
	record  record
	private *rsa.PrivateKey
	public  []byte
	id      [32]byte
	issued  atomic.Int64

	use     sync.RWMutex // held for reading by calls that sign
	dropped bool
}

// record is a key as the journal has it.
type record struct {
	Version int       `json:"version"`
	RoundID string    `json:"round_id"`
	Expires time.Time `json:"expires"`
	// Private is PKCS #8.
	Private []byte `json:"private"`
	// Owners is the key of the HMAC by which clients stand in the journal.
	Owners []byte `json:"owners"`
}

const recordVersion = 1

// owner is a client and a key.
type owner [2 * sha256.Size]byte

func (k *key) owner(identity string) (o owner) {
	mac := hmac.New(sha256.New, k.record.Owners)
	_, _ = mac.Write([]byte(identity))
	copy(o[:], k.id[:])
	mac.Sum(o[:sha256.Size][: sha256.Size : 2*sha256.Size])
	return o
}

// newKey wraps a private key that is used for nothing else.
func newKey(roundID string, expires time.Time, private *rsa.PrivateKey) (*key, error) {
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	owners := make([]byte, 32)
	_, _ = rand.Read(owners) // never fails
	return record{recordVersion, roundID, expires.UTC(), der, owners}.open()
}

// open checks a record and returns its key.
func (r record) open() (*key, error) {
	if r.Version != recordVersion {
		return nil, fl.Invalid("version", r.Version, "must be %d", recordVersion)
	}
	if err := checkRoundID(r.RoundID); err != nil {
		return nil, err
	}
	if len(r.Owners) != 32 {
		return nil, fl.Invalid("owners", fmt.Sprintf("%d bytes", len(r.Owners)), "must have 32")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(r.Private)
	if err != nil {
		return nil, fl.Invalid("private", fmt.Sprintf("%d bytes", len(r.Private)), "must be PKCS #8: %v", err)
	}
	private, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, fl.Invalid("private", fmt.Sprintf("%T", parsed), "must be an RSA key")
	}
	public, err := admit.MarshalKey(&private.PublicKey)
	if err != nil {
		return nil, err
	}
	return &key{record: r, private: private, public: public, id: admit.KeyID(public)}, nil
}

// parseRecord reads what the journal has.
func parseRecord(data []byte) (*key, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fl.Invalid("key", fmt.Sprintf("%d bytes", len(data)), "must be a record of a key: %v", err)
	}
	return r.open()
}

func (k *key) info() KeyInfo {
	return KeyInfo{RoundID: k.record.RoundID, PublicKey: k.public, Expires: k.record.Expires, Issued: k.issued.Load()}
}

// checkRoundID asks of a round's id what fl.Round asks.
func checkRoundID(id string) error {
	var p *fl.ParamError
	if err := (fl.Round{ID: id}).Validate(); errors.As(err, &p) && p.Param == "id" {
		return fl.Invalid("round_id", id, "%s", p.Rule)
	}
	return nil
}

// spare makes private keys ahead of time, because that takes some tenths of a second.
type spare struct{ keys chan *rsa.PrivateKey }

func newSpare() *spare { return &spare{keys: make(chan *rsa.PrivateKey)} }

// fill has the next key ready until ctx ends.
func (s *spare) fill(ctx context.Context) {
	for ctx.Err() == nil {
		private, err := rsa.GenerateKey(rand.Reader, admit.KeyBits)
		if err != nil {
			panic(err) // the length is a good one, and the system's randomness never fails
		}
		select {
		case s.keys <- private:
		case <-ctx.Done():
		}
	}
}

func (s *spare) take(ctx context.Context) (*rsa.PrivateKey, error) {
	select {
	case private := <-s.keys:
		return private, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
