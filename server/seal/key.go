package seal

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

// Suite names the algorithms of a key.
type Suite string

const (
	// X25519 is small and fast.
	X25519 Suite = "x25519"
	// Hybrid also resists quantum computers. Its sealed reports are 1088 bytes longer.
	Hybrid Suite = "mlkem768-x25519"
)

// Suites returns all suites, the default one first.
func Suites() []Suite { return []Suite{X25519, Hybrid} }

// algorithms are the algorithms of a suite.
type algorithms struct {
	kem  hpke.KEM
	kdf  hpke.KDF
	aead hpke.AEAD
	// overhead is the length of the encapsulated key and of the tag.
	overhead int
}

var suites = map[Suite]algorithms{
	X25519: {hpke.DHKEM(ecdh.X25519()), hpke.HKDFSHA256(), hpke.AES128GCM(), 32 + 16},
	Hybrid: {hpke.MLKEM768X25519(), hpke.HKDFSHA256(), hpke.AES256GCM(), 1120 + 16},
}

// header is the beginning of a public key in its wire form.
func (a algorithms) header() []byte {
	h := binary.BigEndian.AppendUint16(nil, a.kem.ID())
	h = binary.BigEndian.AppendUint16(h, a.kdf.ID())
	return binary.BigEndian.AppendUint16(h, a.aead.ID())
}

// find returns the suite with this name.
func find(s Suite) (algorithms, error) {
	a, known := suites[s]
	if !known {
		return a, fl.Invalid("suite", s, "must be one of %v", Suites())
	}
	return a, nil
}

// parsePublic reads a public key of a round. name is the key's in errors.
func parsePublic(name string, key []byte) (algorithms, hpke.PublicKey, error) {
	refuse := func(rule string, args ...any) (algorithms, hpke.PublicKey, error) {
		return algorithms{}, nil, fl.Invalid(name, fmt.Sprintf("%d bytes", len(key)), rule, args...)
	}
	if len(key) > fl.MaxSealKeyBytes {
		return refuse("must have at most %d", fl.MaxSealKeyBytes)
	}
	for _, suite := range Suites() {
		a := suites[suite]
		header := a.header()
		if !bytes.HasPrefix(key, header) {
			continue
		}
		public, err := a.kem.NewPublicKey(key[len(header):])
		if err != nil {
			return refuse("must hold a public key of %s: %v", suite, err)
		}
		return a, public, nil
	}
	return refuse("must begin with the algorithms of one of %v", Suites())
}

// Fingerprint is the SHA-256 of fl.Round.SealKey or fl.Round.ShareKey, by which clients know a key.
type Fingerprint [sha256.Size]byte

// FingerprintOf returns the fingerprint of a public key.
func FingerprintOf(public []byte) Fingerprint { return sha256.Sum256(public) }

// String returns 64 hexadecimal digits.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// MarshalText implements encoding.TextMarshaler: JSON, as in logs, has the digits of String.
func (f Fingerprint) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// ParseFingerprint is the inverse of Fingerprint.String.
func ParseFingerprint(text string) (Fingerprint, error) {
	digits, err := hex.DecodeString(text)
	if err != nil || len(digits) != len(Fingerprint{}) {
		return Fingerprint{}, fl.Invalid("fingerprint", text, "must be %d hexadecimal digits", 2*len(Fingerprint{}))
	}
	return Fingerprint(digits), nil
}

// Key is a private key of a server.
type Key struct {
	suite   Suite
	private hpke.PrivateKey
	public  []byte
	changed time.Time
	// from and until are when new rounds have the key, see Keys.Rotate. Zero: from the start, and without an end.
	from, until time.Time
}

// GenerateKey draws a key. Cost: about 0.1 ms.
func GenerateKey(s Suite) (*Key, error) {
	a, err := find(s)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	private, err := a.kem.GenerateKey()
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return newKey(s, a, private), nil
}

// ParseKey returns the key with this public half, see Key.Public, from the private key of its KEM in the form of
// RFC 9180. The error is a *fl.ParamError for public_key or private_key. Use it for keys that are no files.
func ParseKey(public, private []byte) (*Key, error) {
	for _, suite := range Suites() {
		a := suites[suite]
		if !bytes.HasPrefix(public, a.header()) {
			continue
		}
		parsed, err := a.kem.NewPrivateKey(private)
		if err != nil {
			return nil, fmt.Errorf("seal: %w", fl.Invalid("private_key", fmt.Sprintf("%d bytes", len(private)), "must be a private key of %s: %v", suite, err))
		}
		key := newKey(suite, a, parsed)
		if !bytes.Equal(key.public, public) {
			return nil, fmt.Errorf("seal: %w", fl.Invalid("private_key", key.Fingerprint(), "must belong to the public key %s", FingerprintOf(public)))
		}
		return key, nil
	}
	return nil, fmt.Errorf("seal: %w", fl.Invalid("public_key", fmt.Sprintf("%d bytes", len(public)), "must begin with the algorithms of one of %v", Suites()))
}

func newKey(s Suite, a algorithms, private hpke.PrivateKey) *Key {
	return &Key{suite: s, private: private, public: append(a.header(), private.PublicKey().Bytes()...)}
}

// Suite returns the algorithms of the key.
func (k *Key) Suite() Suite { return k.suite }

// Public returns the value for fl.Round.SealKey, or for fl.Round.ShareKey.
func (k *Key) Public() []byte { return slices.Clone(k.public) }

// Changed returns when the key became, or becomes, the key of new rounds: when its file was written, unless Keys.Rotate has said
// it. It is the zero time for a key without a file.
func (k *Key) Changed() time.Time { return k.changed }

// Pending says whether the key is for rounds after a time alone.
func (k *Key) Pending(at time.Time) bool { return k.from.After(at) }

// Until returns when the key stops to be the key of new rounds, as Keys.Rotate has said it: the zero time for a key without
// an end.
func (k *Key) Until() time.Time { return k.until }

// Fingerprint returns Public's fingerprint.
func (k *Key) Fingerprint() Fingerprint { return FingerprintOf(k.public) }

// Derive returns a key of 32 bytes for another purpose, which says nothing about this one: the
// HKDF-SHA256 (RFC 5869) of the private key. Different purposes have different keys.
func (k *Key) Derive(purpose string) ([]byte, error) {
	raw, err := k.private.Bytes()
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return hkdf.Key(sha256.New, raw, nil, "hushgrad derived "+purpose, 32)
}
