package admit

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	// KeyBits is the length of the modulus, as token type 2 has it.
	KeyBits = 2048
	// SignatureBytes is the length of a signature, of a blinded one, and of a blinded message.
	SignatureBytes = KeyBits / 8

	exponent = 65537
)

// A key has one encoding: this head, the modulus, and the exponent 65537. The head says that it
// is an RSASSA-PSS key with SHA-384, MGF1 with SHA-384 and salts of 48 bytes (RFC 9578, Section
// 6.5). crypto/x509 does not read this kind of key.
var (
	keyHead = mustHex("30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d010108" +
		"300b0609608648016503040202a2030201300382010f003082010a0282010100")
	keyTail = mustHex("0203010001")
)

func mustHex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// MarshalKey returns the encoding of an issuer's public key, for fl.Round.IssuerKey and
// OuterIssuerKey. The error
// is a *fl.ParamError unless the key has 2048 bits and the exponent 65537.
func MarshalKey(public *rsa.PublicKey) ([]byte, error) {
	switch {
	case public.N.BitLen() != KeyBits:
		return nil, fl.Invalid("issuer_key", fmt.Sprintf("%d bits", public.N.BitLen()), "must have %d", KeyBits)
	case public.E != exponent:
		return nil, fl.Invalid("issuer_key", fmt.Sprintf("exponent %d", public.E), "must have the exponent %d", exponent)
	}
	der := append(bytes.Clone(keyHead), public.N.FillBytes(make([]byte, SignatureBytes))...)
	return append(der, keyTail...), nil
}

// KeyID returns the token_key_id of a key: the SHA-256 of its encoding.
func KeyID(issuerKey []byte) [32]byte { return sha256.Sum256(issuerKey) }

// CheckKey returns a *fl.ParamError for the field name of a round unless der is the encoding of an
// issuer's key.
func CheckKey(name string, der []byte) error {
	_, err := parseKey(name, der)
	return err
}

// parseKey is the inverse of MarshalKey. The error is about the field name of a round.
func parseKey(name string, der []byte) (*rsa.PublicKey, error) {
	want := len(keyHead) + SignatureBytes + len(keyTail)
	if len(der) != want {
		return nil, fl.Invalid(name, fmt.Sprintf("%d bytes", len(der)), "must have %d", want)
	}
	modulus, headed := bytes.CutPrefix(der, keyHead)
	modulus, tailed := bytes.CutSuffix(modulus, keyTail)
	if !headed || !tailed || modulus[0]&0x80 == 0 || modulus[SignatureBytes-1]&1 == 0 {
		return nil, fl.Invalid(name, "something else", "must be an RSASSA-PSS key with SHA-384, salts of 48 bytes, %d bits and the exponent %d", KeyBits, exponent)
	}
	return &rsa.PublicKey{N: new(big.Int).SetBytes(modulus), E: exponent}, nil
}
