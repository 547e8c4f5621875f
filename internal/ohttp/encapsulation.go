package ohttp

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hpke"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

const (
	requestLabel  = "message/bhttp request"
	responseLabel = "message/bhttp response"
)

// ErrKey is the error of a request to a key that the gateway does not have.
var ErrKey = errors.New("the request is for a key that this gateway does not have")

// errSealed says no more: what is wrong would help who made it.
var errSealed = errors.New("the message cannot be opened")

// Answer seals or opens the response to one request.
type Answer struct {
	secret, sent []byte // sent is the encapsulated key of the request
}

// header is what stands before an encapsulated request.
func header(id byte) []byte {
	out := []byte{id}
	for _, n := range []uint16{kemID, kdfID, aeadID} {
		out = binary.BigEndian.AppendUint16(out, n)
	}
	return out
}

// infoOf binds a request to its header.
func infoOf(header []byte) []byte { return slices.Concat([]byte(requestLabel), []byte{0}, header) }

// exporter is a context of HPKE.
type exporter interface {
	Export(label string, length int) ([]byte, error)
}

func newAnswer(from exporter, sent []byte) (*Answer, error) {
	secret, err := from.Export(responseLabel, secretBytes)
	return &Answer{secret, sent}, err
}

// Seal encapsulates a request to the gateway. The answer opens the response.
func (c Config) Seal(request []byte) (sealed []byte, answer *Answer, err error) {
	head := header(c.id)
	sent, sender, err := hpke.NewSender(c.public, suite.kdf, suite.aead, infoOf(head))
	if err != nil {
		return nil, nil, err
	}
	ciphertext, err := sender.Seal(nil, request)
	if err != nil {
		return nil, nil, err
	}
	answer, err = newAnswer(sender, sent)
	return slices.Concat(head, sent, ciphertext), answer, err
}

// Open takes a request out of its encapsulation. The answer seals the response. The error is ErrKey, or says that the
// request cannot be opened.
func (k Keys) Open(sealed []byte) (request []byte, answer *Answer, err error) {
	if len(sealed) < headerBytes+publicBytes {
		return nil, nil, errSealed
	}
	head, sent := sealed[:headerBytes], sealed[headerBytes:headerBytes+publicBytes]
	key := k.find(head[0])
	if key == nil || !slices.Equal(head, header(head[0])) {
		return nil, nil, ErrKey
	}
	recipient, err := hpke.NewRecipient(sent, key.private, suite.kdf, suite.aead, infoOf(head))
	if err != nil {
		return nil, nil, errSealed
	}
	if request, err = recipient.Open(nil, sealed[headerBytes+publicBytes:]); err != nil {
		return nil, nil, errSealed
	}
	answer, err = newAnswer(recipient, sent)
	return request, answer, err
}

// Seal encapsulates the response.
func (a *Answer) Seal(response []byte) ([]byte, error) {
	nonce := make([]byte, secretBytes)
	_, _ = crand.Read(nonce) // never fails
	return a.seal(nonce, response)
}

func (a *Answer) seal(nonce, response []byte) ([]byte, error) {
	aead, iv, err := a.cipher(nonce)
	if err != nil {
		return nil, err
	}
	return aead.Seal(slices.Clone(nonce), iv, response, nil), nil
}

// Open takes a response out of its encapsulation.
func (a *Answer) Open(sealed []byte) ([]byte, error) {
	if len(sealed) < secretBytes {
		return nil, errSealed
	}
	aead, iv, err := a.cipher(sealed[:secretBytes])
	if err != nil {
		return nil, err
	}
	response, err := aead.Open(nil, iv, sealed[secretBytes:], nil)
	if err != nil {
		return nil, errSealed
	}
	return response, nil
}

// cipher derives the key of the response.
func (a *Answer) cipher(nonce []byte) (aead cipher.AEAD, iv []byte, err error) {
	prk, err := hkdf.Extract(sha256.New, a.secret, slices.Concat(a.sent, nonce))
	if err != nil {
		return nil, nil, err
	}
	key, err := hkdf.Expand(sha256.New, prk, "key", keyBytes)
	if err != nil {
		return nil, nil, err
	}
	if iv, err = hkdf.Expand(sha256.New, prk, "nonce", nonceBytes); err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	aead, err = cipher.NewGCM(block)
	return aead, iv, err
}
