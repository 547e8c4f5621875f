package admit

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"

	"github.com/cloudflare/circl/blindsign/blindrsa"

	"github.com/hushgrad/hushgrad/fl"
)

// Request is a client's request for one token, with the secrets that connect it to that token.
// Keep its MarshalBinary before you ask the issuer: after a crash ParseRequest makes the same
// request of it, and the issuer, which signs one message for each client, answers again.
type Request struct {
	verifier *Verifier
	client   blindrsa.Client
	secrets  secrets
	state    blindrsa.State
	blinded  []byte
}

// secrets are what a request was made from: what will be signed, the salt of the signature, and
// the blinding factor.
type secrets struct {
	input [inputBytes]byte
	salt  [saltBytes]byte
	blind [SignatureBytes]byte
}

const (
	requestVersion = 1
	requestBytes   = 1 + inputBytes + saltBytes + SignatureBytes + sha256.Size
)

// NewRequest returns a fresh request for a token under issuerKey, the fl.Round.IssuerKey or
// fl.Round.OuterIssuerKey of the round with this fl.Round.Digest. The error is a *fl.ParamError for issuer_key. Cost: about 100 µs.
func NewRequest(issuerKey []byte, digest [32]byte) (*Request, error) {
	v, err := NewVerifier(issuerKey, digest)
	if err != nil {
		return nil, err
	}
	var s secrets
	binary.BigEndian.PutUint16(s.input[:], tokenType)
	_, _ = rand.Read(s.input[2:][:nonceBytes]) // never fails
	copy(s.input[2+nonceBytes:], v.challenge[:])
	copy(s.input[2+nonceBytes+32:], v.keyID[:])
	_, _ = rand.Read(s.salt[:])
	blind, err := rand.Int(rand.Reader, v.public.N)
	if err != nil {
		return nil, fmt.Errorf("admit: request: %w", err)
	}
	blind.FillBytes(s.blind[:])
	return newRequest(v, s)
}

// newRequest blinds. The blinding factor is a number below the modulus and prime to it. A
// random number below the modulus is, unless it finds a factor of the modulus.
func newRequest(v *Verifier, s secrets) (*Request, error) {
	if blind := new(big.Int).SetBytes(s.blind[:]); blind.Sign() == 0 || blind.Cmp(v.public.N) >= 0 {
		return nil, fmt.Errorf("admit: request: %w", fl.Invalid("blind", "a number out of range", "must be above 0 and below the modulus"))
	}
	client, err := blindrsa.NewClient(blindrsa.SHA384PSSDeterministic, v.public)
	if err != nil {
		return nil, fmt.Errorf("admit: request: %w", err)
	}
	// The library draws the salt and then a number below the modulus, and nothing else.
	drawn := bytes.NewReader(append(bytes.Clone(s.salt[:]), s.blind[:]...))
	blinded, state, err := client.Blind(drawn, s.input[:])
	if err != nil {
		return nil, fmt.Errorf("admit: request: %w", fl.Invalid("blind", "another number", "must be prime to the modulus: %v", err))
	}
	return &Request{verifier: v, client: client, secrets: s, state: state, blinded: blinded}, nil
}

// KeyID returns the id of the key under which the token is asked for.
func (r *Request) KeyID() [32]byte { return r.verifier.keyID }

// BlindedMessage returns what the issuer signs: SignatureBytes bytes that say nothing about
// the token.
func (r *Request) BlindedMessage() []byte { return bytes.Clone(r.blinded) }

// MarshalBinary returns the request with its secrets. Who reads it can tell the client's token.
func (r *Request) MarshalBinary() ([]byte, error) {
	s := &r.secrets
	sum := sha256.Sum256(r.blinded)
	return bytes.Join([][]byte{{requestVersion}, s.input[:], s.salt[:], s.blind[:], sum[:]}, nil), nil
}

// ParseRequest is the inverse of MarshalBinary for the round of this key and digest. The request
// has the blinded message that it had: anything else, also a request of another round,
// is a *fl.ParamError.
func ParseRequest(data, issuerKey []byte, digest [32]byte) (*Request, error) {
	v, err := NewVerifier(issuerKey, digest)
	if err != nil {
		return nil, err
	}
	refuse := func(name string, got any, rule string, args ...any) error {
		return fmt.Errorf("admit: request: %w", fl.Invalid(name, got, rule, args...))
	}
	switch {
	case len(data) != requestBytes:
		return nil, refuse("request", fmt.Sprintf("%d bytes", len(data)), "must have %d", requestBytes)
	case data[0] != requestVersion:
		return nil, refuse("version", data[0], "must be %d", requestVersion)
	}
	var s secrets
	rest := data[1:]
	for _, field := range [][]byte{s.input[:], s.salt[:], s.blind[:]} {
		rest = rest[copy(field, rest):]
	}
	want := secrets{input: s.input}
	binary.BigEndian.PutUint16(want.input[:], tokenType)
	copy(want.input[2+nonceBytes:], v.challenge[:])
	copy(want.input[2+nonceBytes+32:], v.keyID[:])
	if s.input != want.input {
		return nil, refuse("request", "one for another round", "must be for the round with the challenge_digest %x", v.challenge)
	}
	r, err := newRequest(v, s)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(r.blinded); string(sum[:]) != string(rest) {
		return nil, refuse("request", "another blinded message", "must be the one that was kept")
	}
	return r, nil
}

// Finalize makes the token of the issuer's answer, and verifies it. The error wraps ErrToken and
// is a *fl.ParamError when the issuer has not signed the message. Cost: about 80 µs.
func (r *Request) Finalize(blindSignature []byte) ([]byte, error) {
	if len(blindSignature) != SignatureBytes {
		return nil, fmt.Errorf("admit: %w: %w", ErrToken,
			fl.Invalid("blind_signature", fmt.Sprintf("%d bytes", len(blindSignature)), "must have %d", SignatureBytes))
	}
	signature, err := r.client.Finalize(r.state, blindSignature)
	if err != nil {
		return nil, fmt.Errorf("admit: %w: %w", ErrToken, fl.Invalid("blind_signature", "another number", "must be the issuer's: %v", err))
	}
	token := append(bytes.Clone(r.secrets.input[:]), signature...)
	if err := r.verifier.Verify(token); err != nil {
		return nil, err
	}
	return token, nil
}
