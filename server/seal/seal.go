package seal

import (
	"crypto/hpke"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// ErrSealed is wrapped by the error for bytes that do not open: they were sealed for another
// round or key, were changed, or never were a sealed report.
var ErrSealed = errors.New("not a sealed report of this round")

// Names of the keys in errors, and how the info begins of what is sealed to each.
const (
	sealKey     = "seal_key"
	shareKey    = "share_key"
	reportLabel = "hushgrad sealed report"
	shareLabel  = "hushgrad sealed share"
)

// infoOf binds what is sealed to its round, and a share to the sealed report before it.
func infoOf(label string, digest [32]byte, before ...byte) []byte {
	return slices.Concat([]byte(label), digest[:], before)
}

// Sealer seals the reports of one round. It is safe for concurrent use.
type Sealer struct {
	algorithms
	public hpke.PublicKey
	label  string
	digest [32]byte
}

// NewSealer returns the sealer of the round with this fl.Round.SealKey and fl.Round.Digest. The
// error is a *fl.ParamError for seal_key.
func NewSealer(key []byte, digest [32]byte) (*Sealer, error) {
	return newSealer(sealKey, reportLabel, key, digest)
}

func newSealer(name, label string, key []byte, digest [32]byte) (*Sealer, error) {
	a, public, err := parsePublic(name, key)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return &Sealer{a, public, label, digest}, nil
}

// Seal appends the sealed plaintext to dst. The same plaintext gives other bytes each time. Cost:
// about 0.1 ms.
func (s *Sealer) Seal(dst, plaintext []byte) ([]byte, error) { return s.seal(dst, plaintext) }

func (s *Sealer) seal(dst, plaintext []byte, before ...byte) ([]byte, error) {
	sealed, err := hpke.Seal(s.public, s.kdf, s.aead, infoOf(s.label, s.digest, before...), plaintext)
	if err != nil {
		return dst, fmt.Errorf("seal: %w", err)
	}
	return append(dst, sealed...), nil
}

// Opener opens the sealed reports of one round. It is safe for concurrent use.
type Opener struct {
	algorithms
	private hpke.PrivateKey
	label   string
	digest  [32]byte
}

// NewOpener returns the opener of the round with this fl.Round.Digest, whose fl.Round.SealKey is
// Public.
func (k *Key) NewOpener(digest [32]byte) *Opener {
	return &Opener{suites[k.suite], k.private, reportLabel, digest}
}

// Open returns what was sealed. The error wraps ErrSealed. Cost: about 0.1 ms.
func (o *Opener) Open(sealed []byte) ([]byte, error) { return o.open(sealed) }

func (o *Opener) open(sealed []byte, before ...byte) ([]byte, error) {
	plaintext, err := hpke.Open(o.private, o.kdf, o.aead, infoOf(o.label, o.digest, before...), sealed)
	if err != nil {
		return nil, fmt.Errorf("seal: %w: %v", ErrSealed, err)
	}
	return plaintext, nil
}

// ID returns the id of a sealed report: its SHA-256.
func ID(sealed []byte) [sha256.Size]byte { return sha256.Sum256(sealed) }
