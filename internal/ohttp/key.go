package ohttp

import (
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// The identifiers of the suite in the registry of HPKE, and its lengths in bytes.
const (
	kemID, kdfID, aeadID     = 0x0020, 0x0001, 0x0001
	publicBytes, secretBytes = 32, 16
	keyBytes, nonceBytes     = 16, 12
	headerBytes              = 7
)

// suite are the algorithms.
var suite = struct {
	kem  hpke.KEM
	kdf  hpke.KDF
	aead hpke.AEAD
}{hpke.DHKEM(ecdh.X25519()), hpke.HKDFSHA256(), hpke.AES128GCM()}

// text is how keys are written.
var text = base64.RawURLEncoding

// Key is the private key of a gateway.
type Key struct {
	private hpke.PrivateKey
	config  Config
}

// NewKey draws a key.
func NewKey() (*Key, error) {
	private, err := suite.kem.GenerateKey()
	if err != nil {
		return nil, err
	}
	return newKey(private, idOf(private.PublicKey().Bytes())), nil
}

// ParseKey reads what Text wrote. The error names param.
func ParseKey(param, written string) (*Key, error) {
	raw, err := text.DecodeString(strings.TrimSpace(written))
	if err != nil {
		return nil, fl.Invalid(param, "text that is no base64", "must be what hushgrad relay key has written")
	}
	private, err := suite.kem.NewPrivateKey(raw)
	if err != nil {
		return nil, fl.Invalid(param, "bytes that are no key", "must be what hushgrad relay key has written")
	}
	return newKey(private, idOf(private.PublicKey().Bytes())), nil
}

// idOf follows from the public key, so that a new key has another identifier than the old one, but for one case in 256.
func idOf(public []byte) byte {
	sum := sha256.Sum256(public)
	return sum[0]
}

func newKey(private hpke.PrivateKey, id byte) *Key {
	return &Key{private, Config{id, private.PublicKey()}}
}

// Text writes the private key for ParseKey.
func (k *Key) Text() (string, error) {
	raw, err := k.private.Bytes()
	return text.EncodeToString(raw), err
}

// Config returns the key configuration, which is public.
func (k *Key) Config() Config { return k.config }

// Config is the key configuration of a gateway: a public key with its identifier.
type Config struct {
	id     byte
	public hpke.PublicKey
}

// Bytes returns the configuration in the form of RFC 9458, section 3.1.
func (c Config) Bytes() []byte {
	out := append(binary.BigEndian.AppendUint16([]byte{c.id}, kemID), c.public.Bytes()...)
	for _, n := range []uint16{4, kdfID, aeadID} {
		out = binary.BigEndian.AppendUint16(out, n)
	}
	return out
}

// Text returns the configuration as one word.
func (c Config) Text() string { return text.EncodeToString(c.Bytes()) }

// ParseConfig reads what Text wrote. The error names param.
func ParseConfig(param, written string) (Config, error) {
	raw, err := text.DecodeString(strings.TrimSpace(written))
	if err == nil {
		var c Config
		if c, err = decodeConfig(raw); err == nil {
			return c, nil
		}
	}
	return Config{}, fl.Invalid(param, written, "must be the key configuration of a gateway, which hushgrad relay key prints: %v", err)
}

// decodeConfig reads a configuration that offers the suite.
func decodeConfig(raw []byte) (Config, error) {
	const fixed = 3 + publicBytes
	if len(raw) < fixed+2 || binary.BigEndian.Uint16(raw[1:]) != kemID {
		return Config{}, errors.New("it has no key for X25519")
	}
	symmetric := raw[fixed+2:]
	if n := int(binary.BigEndian.Uint16(raw[fixed:])); n != len(symmetric) || n == 0 || n%4 != 0 {
		return Config{}, errors.New("its list of algorithms has another length than it says")
	}
	ours := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, kdfID), aeadID)
	if !slices.ContainsFunc(slices.Collect(slices.Chunk(symmetric, 4)), func(pair []byte) bool { return string(pair) == string(ours) }) {
		return Config{}, errors.New("it does not offer HKDF-SHA256 with AES-128-GCM")
	}
	public, err := suite.kem.NewPublicKey(raw[3:fixed])
	return Config{raw[0], public}, err
}

// Keys are the keys of a gateway. The first key is preferred.
type Keys []*Key

// ParseKeys reads private keys. The error names param. Two keys with one identifier are refused.
func ParseKeys(param string, written []string) (Keys, error) {
	var all Keys
	for _, one := range written {
		k, err := ParseKey(param, one)
		if err != nil {
			return nil, err
		}
		if all.find(k.config.id) != nil {
			return nil, fl.Invalid(param, k.config.Text(), "must have another identifier (%d) than the keys before: type hushgrad relay key --out FILE to make another one", k.config.id)
		}
		all = append(all, k)
	}
	return all, nil
}

// Encoded returns the configurations of all keys in the form application/ohttp-keys.
func (k Keys) Encoded() (out []byte) {
	for _, one := range k {
		config := one.config.Bytes()
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(config))), config...)
	}
	return out
}

// MaxEncoded bounds what ParseEncoded reads.
const MaxEncoded = 64 << 10

// ParseEncoded reads configurations in the form application/ohttp-keys. It leaves out configurations of other algorithms, as RFC 9458, section 3.2, asks.
func ParseEncoded(list []byte) (all []Config, err error) {
	if len(list) > MaxEncoded {
		return nil, fl.Invalid("key configurations", len(list), "must have at most %d bytes", MaxEncoded)
	}
	for rest := list; len(rest) > 0; {
		if len(rest) < 2 || len(rest)-2 < int(binary.BigEndian.Uint16(rest)) {
			return nil, fl.Invalid("key configurations", len(list), "must end where a configuration ends")
		}
		end := 2 + int(binary.BigEndian.Uint16(rest))
		if c, err := decodeConfig(rest[2:end]); err == nil {
			all = append(all, c)
		}
		rest = rest[end:]
	}
	return all, nil
}

// find returns the key with an identifier, nil for none.
func (k Keys) find(id byte) *Key {
	for _, one := range k {
		if one.config.id == id {
			return one
		}
	}
	return nil
}
