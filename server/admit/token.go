package admit

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	// IssuerName stands in every TokenChallenge.
	IssuerName = "hushgrad"
	// TokenBytes is the length of every token.
	TokenBytes = inputBytes + SignatureBytes

	tokenType  = 2
	nonceBytes = 32
	saltBytes  = 48
	inputBytes = 2 + nonceBytes + 32 + 32 // what is signed
)

// ErrToken is wrapped by the errors for tokens that are not good for the round.
var ErrToken = errors.New("bad token")

// Verifier checks the tokens of one round. It is safe for concurrent use.
type Verifier struct {
	public           *rsa.PublicKey
	challenge, keyID [32]byte
}

// NewVerifier returns the verifier of a round: issuerKey is its fl.Round.IssuerKey, or at the
// shuffler its fl.Round.OuterIssuerKey, and digest its fl.Round.Digest. The error is a *fl.ParamError for issuer_key.
func NewVerifier(issuerKey []byte, digest [32]byte) (*Verifier, error) {
	public, err := parseKey("issuer_key", issuerKey)
	if err != nil {
		return nil, fmt.Errorf("admit: %w", err)
	}
	return &Verifier{public: public, challenge: sha256.Sum256(marshalChallenge(IssuerName, digest[:], "")), keyID: KeyID(issuerKey)}, nil
}

// Seed returns the seed that a token assigns to the report that it is for, see fl.SeededMechanism: the first four bytes,
// little-endian, of the SHA-256 of "hushgrad report seed" and the token. See "Tokens assign seeds" above.
func Seed(token []byte) uint32 {
	sum := sha256.Sum256(append([]byte("hushgrad report seed"), token...))
	return binary.LittleEndian.Uint32(sum[:])
}

// Verify returns nil for a token that the issuer has signed for this round. Every other error
// wraps ErrToken and is a *fl.ParamError. A round has no end of good tokens for somebody who has
// the issuer's private key, and one for each token that the issuer has signed for anybody
// else. Whether a token was spent before is for the caller to know.
//
// Cost: about 40 µs.
func (v *Verifier) Verify(token []byte) error {
	if err := v.verify(token); err != nil {
		return fmt.Errorf("admit: %w: %w", ErrToken, err)
	}
	return nil
}

func (v *Verifier) verify(token []byte) error {
	if len(token) != TokenBytes {
		return fl.Invalid("token", fmt.Sprintf("%d bytes", len(token)), "must have %d", TokenBytes)
	}
	input, signature := token[:inputBytes], token[inputBytes:]
	challenge, keyID := input[2+nonceBytes:][:32], input[2+nonceBytes+32:]
	switch kind := binary.BigEndian.Uint16(input); {
	case kind != tokenType:
		return fl.Invalid("token_type", kind, "must be %d", tokenType)
	case string(keyID) != string(v.keyID[:]):
		return fl.Invalid("token_key_id", fmt.Sprintf("%x", keyID), "must be %x, the key of this round", v.keyID)
	case string(challenge) != string(v.challenge[:]):
		return fl.Invalid("challenge_digest", fmt.Sprintf("%x", challenge), "must be %x, the challenge digest of this round", v.challenge)
	}
	sum := sha512.Sum384(input)
	options := &rsa.PSSOptions{Hash: crypto.SHA384, SaltLength: saltBytes}
	if err := rsa.VerifyPSS(v.public, crypto.SHA384, sum[:], signature, options); err != nil {
		return fl.Invalid("authenticator", "another number", "must be the issuer's signature: %v", err)
	}
	return nil
}

// marshalChallenge encodes a TokenChallenge (RFC 9577, Section 2.1.1).
func marshalChallenge(issuerName string, context []byte, originInfo string) []byte {
	b := binary.BigEndian.AppendUint16(nil, tokenType)
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(issuerName))), issuerName...)
	b = append(append(b, byte(len(context))), context...)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(originInfo))), originInfo...)
}
