package admit

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"math/big"
	"sync"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// wantParam checks that an error names a parameter, and that it wraps ErrToken if it has to.
func wantParam(t *testing.T, what string, err error, param string, token bool) {
	t.Helper()
	var p *fl.ParamError
	if !errors.As(err, &p) || p.Param != param || errors.Is(err, ErrToken) != token {
		t.Errorf("%s: %v, want a ParamError for %s, wrapping ErrToken: %t", what, err, param, token)
	}
}

func TestTokensOfOtherRoundsAndKeysAreRefused(t *testing.T) {
	key, der := testKey(t)
	digest := [32]byte{1}
	v, err := NewVerifier(der, digest)
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, der, digest)
	good := finalize(t, r, sign(t, key, r.BlindedMessage()))
	if err := v.Verify(good); err != nil {
		t.Fatalf("a good token: %v", err)
	}
	other := request(t, der, [32]byte{2})
	otherRound := finalize(t, other, sign(t, key, other.BlindedMessage()))
	stranger, err := rsa.GenerateKey(rand.Reader, KeyBits)
	if err != nil {
		t.Fatal(err)
	}
	strangeDER, err := MarshalKey(&stranger.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	foreign := request(t, strangeDER, digest)
	otherKey := finalize(t, foreign, sign(t, stranger, foreign.BlindedMessage()))
	change := func(token []byte, at int) []byte {
		token = bytes.Clone(token)
		token[at] ^= 1
		return token
	}
	modulus := append(bytes.Clone(good[:inputBytes]), key.N.Bytes()...)
	for name, c := range map[string]struct {
		token []byte
		param string
	}{
		"nothing":             {nil, "token"},
		"cut":                 {good[:TokenBytes-1], "token"},
		"longer":              {append(bytes.Clone(good), 0), "token"},
		"another type":        {change(good, 1), "token_type"},
		"another nonce":       {change(good, 2), "authenticator"},
		"another challenge":   {change(good, 2+nonceBytes), "challenge_digest"},
		"another key id":      {change(good, 2+nonceBytes+32), "token_key_id"},
		"another signature":   {change(good, TokenBytes-1), "authenticator"},
		"the modulus":         {modulus, "authenticator"},
		"another round's":     {otherRound, "challenge_digest"},
		"another issuer's":    {otherKey, "token_key_id"},
		"signature of nobody": {append(bytes.Clone(good[:inputBytes]), make([]byte, SignatureBytes)...), "authenticator"},
	} {
		wantParam(t, name, v.Verify(c.token), c.param, true)
	}
}

func TestVerifiersAreForManyGoroutines(t *testing.T) {
	key, der := testKey(t)
	v, err := NewVerifier(der, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, der, [32]byte{1})
	token := finalize(t, r, sign(t, key, r.BlindedMessage()))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				mine := bytes.Clone(token)
				mine[len(mine)-1] ^= byte(i % 2)
				if err := v.Verify(mine); (err == nil) != (i%2 == 0) {
					t.Errorf("token %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestKeysHaveOneForm(t *testing.T) {
	key, der := testKey(t)
	for name, public := range map[string]*rsa.PublicKey{
		"exponent 3": {N: key.N, E: 3},
		"2047 bits":  {N: new(big.Int).Rsh(key.N, 1), E: exponent},
		"2049 bits":  {N: new(big.Int).Lsh(key.N, 1), E: exponent},
	} {
		_, err := MarshalKey(public)
		wantParam(t, name, err, "issuer_key", false)
	}
	change := func(at int, mask byte) []byte {
		b := bytes.Clone(der)
		b[at] ^= mask
		return b
	}
	for name, der := range map[string][]byte{
		"nothing": nil, "cut": der[:len(der)-1], "longer": append(bytes.Clone(der), 0), "another head": change(20, 1),
		"another exponent": change(len(der)-1, 2), "a short modulus": change(len(keyHead), 0x80),
		"an even modulus": change(len(keyHead)+SignatureBytes-1, 1),
	} {
		_, err := NewVerifier(der, [32]byte{1})
		wantParam(t, name, err, "issuer_key", false)
		_, err = NewRequest(der, [32]byte{1})
		wantParam(t, name, err, "issuer_key", false)
		_, err = ParseRequest(nil, der, [32]byte{1})
		wantParam(t, name, err, "issuer_key", false)
	}
	if public, err := parseKey("issuer_key", der); err != nil || !public.Equal(&key.PublicKey) {
		t.Errorf("the key comes back as %v, %v", public, err)
	}
}

func FuzzIssuerKey(f *testing.F) {
	_, der := testKey(f)
	f.Add(der)
	f.Fuzz(func(t *testing.T, data []byte) {
		public, err := parseKey("issuer_key", data)
		if err != nil {
			return
		}
		if again, err := MarshalKey(public); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%x is read as a key that is encoded as %x, %v", data, again, err)
		}
	})
}

// No bytes but the signed ones are a token.
func FuzzVerify(f *testing.F) {
	file := readIssuances(f)
	r := file.Vectors[0].request(f, file.PkS)
	v, good := r.verifier, file.Vectors[0].Token
	f.Add([]byte(good))
	f.Add([]byte(good[:100]))
	f.Fuzz(func(t *testing.T, token []byte) {
		if err := v.Verify(token); (err == nil) != bytes.Equal(token, good) || err != nil && !errors.Is(err, ErrToken) {
			t.Fatalf("%x: %v", token, err)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	key, der := testKey(b)
	v, err := NewVerifier(der, [32]byte{1})
	if err != nil {
		b.Fatal(err)
	}
	r := request(b, der, [32]byte{1})
	token := finalize(b, r, sign(b, key, r.BlindedMessage()))
	for b.Loop() {
		if err := v.Verify(token); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	_, der := testKey(b)
	for b.Loop() {
		request(b, der, [32]byte{1})
	}
}

func BenchmarkFinalize(b *testing.B) {
	key, der := testKey(b)
	r := request(b, der, [32]byte{1})
	answer := sign(b, key, r.BlindedMessage())
	for b.Loop() {
		finalize(b, r, answer)
	}
}

func BenchmarkSign(b *testing.B) {
	key, der := testKey(b)
	blinded := request(b, der, [32]byte{1}).BlindedMessage()
	for b.Loop() {
		sign(b, key, blinded)
	}
}
