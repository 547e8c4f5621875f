package shuffler

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	secretBytes = 32
	keyBytes    = sha256.Size // of a report in the journal
	checkBytes  = 16
)

// secret is what hides the reports of one round in the journal. Different purposes have different
// keys, derived by HKDF-Expand with SHA-256 (RFC 5869).
type secret struct {
	keys   []byte // for the keys of reports in the journal
	tokens []byte // for the keys of spent tokens in the journal
	order  []byte // for the order in which reports leave
	value  cipher.AEAD
	verify fl.VerifyKey // of the reports' proofs
	check  []byte       // tells secrets apart, and says nothing about this one
}

func newSecret(raw [secretBytes]byte) (*secret, error) {
	block, err := aes.NewCipher(derive(raw, "value", 32))
	if err != nil {
		return nil, err
	}
	// A random nonce of 96 bits: a round has at most 2^30 reports, so that two have the same one
	// with a probability below 2^-36.
	value, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &secret{
		keys: derive(raw, "key", 32), tokens: derive(raw, "token", 32), order: derive(raw, "order", 32), value: value,
		check: derive(raw, "check", checkBytes), verify: fl.VerifyKey(derive(raw, "verify", len(fl.VerifyKey{}))),
	}, nil
}

// derive returns the key for one purpose.
func derive(raw [secretBytes]byte, purpose string, n int) []byte {
	key, err := hkdf.Expand(sha256.New, raw[:], "hushgrad shuffler "+purpose, n)
	if err != nil {
		panic(err) // the lengths are good ones
	}
	return key
}

// key returns the key in the journal of the report with an id.
func (s *secret) key(id [sha256.Size]byte) [keyBytes]byte { return s.mac(s.keys, id) }

// mac is the HMAC of an id under a key for one purpose.
func (s *secret) mac(purpose []byte, id [sha256.Size]byte) (key [keyBytes]byte) {
	h := hmac.New(sha256.New, purpose)
	h.Write(id[:])
	h.Sum(key[:0])
	return key
}

// rank says where the report with a key in the journal is in the order in which reports leave: it
// is not the order of the keys, which stay in the journal's files.
func (s *secret) rank(key []byte) uint64 {
	h := hmac.New(sha256.New, s.order)
	h.Write(key)
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// seal encrypts what is kept at a key.
func (s *secret) seal(key, item []byte) []byte { return s.value.Seal(nil, nil, item, key) }

// open is the inverse of seal.
func (s *secret) open(key, value []byte) ([]byte, error) {
	item, err := s.value.Open(nil, nil, value, key)
	if err != nil {
		return nil, fl.Invalid("value", fmt.Sprintf("%d bytes", len(value)), "must be what was written: %v", err)
	}
	return item, nil
}
