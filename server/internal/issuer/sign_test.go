package issuer

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha512"
	"errors"
	"math/big"
	"testing"

	"github.com/cloudflare/circl/blindsign/blindrsa"

	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/journal"
)

func newSigner(t testing.TB) (*rsa.PrivateKey, *blindSigner) {
	t.Helper()
	private, err := madeKey(journal.NewMemory())
	if err != nil {
		t.Fatal(err)
	}
	s, err := newBlindSigner("private", private)
	if err != nil {
		t.Fatal(err)
	}
	return private, s
}

// Another implementation, which takes the whole exponent modulo the whole modulus, has the same signatures.
func TestSignaturesAreThePowersOfTheMessages(t *testing.T) {
	private, s := newSigner(t)
	top := new(big.Int).Sub(private.N, big.NewInt(1))
	messages := []*big.Int{big.NewInt(1), big.NewInt(2), private.Primes[0], private.Primes[1], top}
	for range 20 {
		m, err := rand.Int(rand.Reader, top)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m.Add(m, big.NewInt(1)))
	}
	for _, m := range messages {
		blinded := m.FillBytes(make([]byte, admit.SignatureBytes))
		want, err := blindrsa.NewSigner(private).BlindSign(blinded)
		if err != nil {
			t.Fatal(err)
		}
		number, err := s.number(blinded)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.sign(number); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%x signs as %x, %v, want %x", blinded, got, err, want)
		}
	}
}

// A signature that is right modulo one prime alone has a common factor with what it should be: whoever gets it has the
// private key. So it is not given out.
func TestAFaultGivesNoKeyAway(t *testing.T) {
	private, s := newSigner(t)
	s.p.d[len(s.p.d)-1] ^= 2 // a bit of the memory changes
	number, err := s.number(big.NewInt(2).FillBytes(make([]byte, admit.SignatureBytes)))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.sign(number)
	if !errors.Is(err, errFault) || answer != nil {
		t.Errorf("%x, %v", answer, err)
	}
	_, err = newBlindSigner("outer", &rsa.PrivateKey{PublicKey: private.PublicKey, D: private.D, Primes: append(private.Primes[:2:2], big.NewInt(3))})
	wantError(t, "three primes", err, nil, "outer")
	short := rsa.PrivateKey{PublicKey: private.PublicKey, D: private.D, Primes: []*big.Int{private.Primes[0], big.NewInt(65537)}}
	short.Precomputed = private.Precomputed
	_, err = newBlindSigner("outer", &short)
	wantError(t, "a short prime", err, nil, "outer")
}

// The rate of an issuer's processor is at most one signature in this time. crypto/rsa's is for comparison: it pads, and has the same
// arithmetic.
func BenchmarkSign(b *testing.B) {
	private, s := newSigner(b)
	number, err := s.number(big.NewInt(2).FillBytes(make([]byte, admit.SignatureBytes)))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("blind", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.sign(number); err != nil {
				b.Fatal(err)
			}
		}
	})
	hash := make([]byte, sha512.Size384)
	b.Run("crypto/rsa", func(b *testing.B) {
		for b.Loop() {
			if _, err := rsa.SignPSS(rand.Reader, private, crypto.SHA384, hash, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
