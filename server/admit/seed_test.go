package admit

import (
	"bytes"
	"math/big"
	"testing"
)

// docs/report-format.md has this vector.
func TestSeedOfAKnownToken(t *testing.T) {
	token := make([]byte, TokenBytes)
	for i := range token {
		token[i] = byte(i)
	}
	if got := Seed(token); got != 913518364 {
		t.Errorf("%d", got)
	}
}

// A client cannot choose among seeds. Of one signing comes one token, whenever it is finished. The same signature as a larger
// number, which is the same modulo the key's, is no token: it would have another seed.
func TestATokenHasOneForm(t *testing.T) {
	key, der := testKey(t)
	v, err := NewVerifier(der, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	seeds, larger := map[uint32]bool{}, 0
	const signings = 40
	for range signings {
		r := request(t, der, [32]byte{1})
		answer := sign(t, key, r.BlindedMessage())
		token := finalize(t, r, answer)
		if again := finalize(t, r, answer); !bytes.Equal(again, token) {
			t.Error("a request was finished as two tokens")
		}
		if again := sign(t, key, r.BlindedMessage()); !bytes.Equal(again, answer) {
			t.Error("a blinded message was signed in two ways")
		}
		seeds[Seed(token)] = true
		s := new(big.Int).SetBytes(token[inputBytes:])
		if s.Add(s, key.N).BitLen() <= KeyBits {
			larger++
			other := append(bytes.Clone(token[:inputBytes]), s.FillBytes(make([]byte, SignatureBytes))...)
			wantParam(t, "a signature beyond the modulus", v.Verify(other), "authenticator", true)
		}
	}
	if larger == 0 {
		t.Errorf("no signature of %d could be larger", signings)
	}
	if len(seeds) < signings-1 { // two of 40 are equal in one of 5 million runs
		t.Errorf("%d seeds of %d tokens", len(seeds), signings)
	}
}
