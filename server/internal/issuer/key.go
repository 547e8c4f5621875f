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

// key is the keys of one round: the inner one for the server, the outer one for the shuffler.
type key struct {
	record       record
	ends         time.Time // record.Expires as this process measures it: setting the clock destroys no key
	inner, outer *signer
	issued       atomic.Int64 // under inner

	use     sync.RWMutex // held for reading by calls that sign
	dropped bool
}

// signer is one of the two keys of a round.
type signer struct {
	*blindSigner
	public []byte
	id     [32]byte
}

// record is the keys of a round as the journal has them.
type record struct {
	Version int       `json:"version"`
	RoundID string    `json:"round_id"`
	Expires time.Time `json:"expires"`
	// Private and Outer are PKCS #8.
	Private []byte `json:"private"`
	Outer   []byte `json:"outer"`
	// Owners is the key of the HMAC by which clients stand in the journal.
	Owners []byte `json:"owners"`
}

const recordVersion = 2

// owner is a client and a key.
type owner [2 * sha256.Size]byte

// owner returns the client with an identity under one of the keys.
func (k *key) owner(s *signer, identity string) (o owner) {
	mac := hmac.New(sha256.New, k.record.Owners)
	_, _ = mac.Write([]byte(identity))
	copy(o[:], s.id[:])
	mac.Sum(o[:sha256.Size][: sha256.Size : 2*sha256.Size])
	return o
}

// pair is two private keys that are used for nothing else.
type pair [2]*rsa.PrivateKey

// newKey wraps a pair.
func newKey(roundID string, expires time.Time, private pair) (*key, error) {
	var der [2][]byte
	for i, p := range private {
		var err error
		if der[i], err = x509.MarshalPKCS8PrivateKey(p); err != nil {
			return nil, err
		}
	}
	owners := make([]byte, 32)
	_, _ = rand.Read(owners) // never fails
	return record{recordVersion, roundID, expires.UTC(), der[0], der[1], owners}.open()
}

// open checks a record and returns its keys.
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
	k := &key{record: r}
	var err error
	if k.inner, err = openSigner("private", r.Private); err != nil {
		return nil, err
	}
	if k.outer, err = openSigner("outer", r.Outer); err != nil {
		return nil, err
	}
	if k.inner.id == k.outer.id {
		return nil, fl.Invalid("outer", "the private key", "must be another one")
	}
	return k, nil
}

// openSigner reads one private key. The error is about the field name of a record.
func openSigner(name string, der []byte) (*signer, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fl.Invalid(name, fmt.Sprintf("%d bytes", len(der)), "must be PKCS #8: %v", err)
	}
	private, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, fl.Invalid(name, fmt.Sprintf("%T", parsed), "must be an RSA key")
	}
	public, err := admit.MarshalKey(&private.PublicKey)
	if err != nil {
		return nil, err
	}
	blind, err := newBlindSigner(name, private)
	return &signer{blindSigner: blind, public: public, id: admit.KeyID(public)}, err
}

// parseRecord reads what the journal has.
func parseRecord(data []byte) (*key, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fl.Invalid("key", fmt.Sprintf("%d bytes", len(data)), "must be a record of keys: %v", err)
	}
	return r.open()
}

func (k *key) info() KeyInfo {
	return KeyInfo{
		RoundID: k.record.RoundID, PublicKey: k.inner.public, OuterPublicKey: k.outer.public, Expires: k.record.Expires, Issued: k.issued.Load(),
	}
}

// checkRoundID asks of a round's id what fl.Round asks.
func checkRoundID(id string) error {
	if p, ok := errors.AsType[*fl.ParamError]((fl.Round{ID: id}).Validate()); ok && p.Param == "id" {
		return fl.Invalid("round_id", id, "%s", p.Rule)
	}
	return nil
}

// spare makes private keys ahead of time, because that takes some tenths of a second.
type spare struct {
	pairs  chan pair
	needed chan struct{}
}

func newSpare() spare { return spare{make(chan pair), make(chan struct{})} }

// quiet is how long the clients of a new round have the processor before the next pair is made.
const quiet = time.Second

// take returns a pair, which is made at once where there is none.
func (s spare) take(ctx context.Context) (p pair, err error) {
	select {
	case p = <-s.pairs:
		return p, nil
	case s.needed <- struct{}{}:
	case <-ctx.Done():
		return p, ctx.Err()
	}
	select {
	case p = <-s.pairs:
		return p, nil
	case <-ctx.Done():
		return p, ctx.Err()
	}
}

// fill has the next pair ready, some time after the last one was taken, until ctx ends.
func (s spare) fill(ctx context.Context, newKey func() (*rsa.PrivateKey, error)) {
	for {
		select {
		case <-s.needed:
		case <-time.After(quiet):
		case <-ctx.Done():
			return
		}
		var next pair
		for i := range next {
			private, err := newKey()
			if err != nil {
				panic(err) // the length is a good one, and the system's randomness never fails
			}
			next[i] = private
		}
		select {
		case s.pairs <- next:
		case <-ctx.Done():
			return
		}
	}
}
