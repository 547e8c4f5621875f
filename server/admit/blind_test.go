package admit

import (
	"bytes"
	"crypto/rsa"
	"math/big"
	"testing"

	"github.com/cloudflare/circl/blindsign/blindrsa"
)

// sign is what an issuer does with a blinded message, without asking who sent it.
func sign(t testing.TB, key *rsa.PrivateKey, blinded []byte) []byte {
	t.Helper()
	answer, err := blindrsa.NewSigner(key).BlindSign(blinded)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func request(t testing.TB, der []byte, digest [32]byte) *Request {
	t.Helper()
	r, err := NewRequest(der, digest)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func finalize(t testing.TB, r *Request, answer []byte) []byte {
	t.Helper()
	token, err := r.Finalize(answer)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Blindness is perfect. For any signing (z, z^d) and any token with the signature s there is one
// blinding factor below the modulus that connects them: r = z^d/s. Had the client of that token
// drawn it, it would have sent z and made this token of the answer. So all of them are equally
// likely to somebody who knows all signings and all tokens, and the private key.
func TestEverySigningFitsEveryToken(t *testing.T) {
	const n = 6
	key, der := testKey(t)
	digest := [32]byte{1}
	var requests [n]*Request
	var blinded, answers, tokens [n][]byte
	for i := range n {
		requests[i] = request(t, der, digest)
		blinded[i] = requests[i].BlindedMessage()
		answers[i] = sign(t, key, blinded[i])
		tokens[i] = finalize(t, requests[i], answers[i])
	}
	for i := range n { // signing
		for j := range n { // token
			s := requests[j].secrets
			own := s.blind
			inverse := new(big.Int).ModInverse(new(big.Int).SetBytes(tokens[j][inputBytes:]), key.N)
			r := new(big.Int).SetBytes(answers[i])
			r.Mul(r, inverse).Mod(r, key.N).FillBytes(s.blind[:])
			if (s.blind == own) != (i == j) {
				t.Errorf("signing %d, token %d: the factor that was drawn connects them: %t", i, j, s.blind == own)
			}
			other, err := newRequest(requests[j].verifier, s)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(other.BlindedMessage(), blinded[i]) {
				t.Errorf("signing %d, token %d: the factor leads to another message", i, j)
			}
			if token := finalize(t, other, answers[i]); !bytes.Equal(token, tokens[j]) {
				t.Errorf("signing %d, token %d: the factor leads to another token", i, j)
			}
		}
	}
}

// The factors are drawn from all numbers below the modulus: the highest bytes of 512 of them
// fill every sixteenth of the range. One that stays empty has probability 16·(15/16)^512 < 1e-13.
func TestBlindsAreSpreadOverTheModulus(t *testing.T) {
	_, der := testKey(t)
	seen, parts := map[string]bool{}, map[byte]bool{}
	v, err := NewVerifier(der, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	top := int(v.public.N.Bytes()[0]) + 1
	for range 512 {
		r := request(t, der, [32]byte{1})
		for _, secret := range [][]byte{r.secrets.blind[:], r.secrets.salt[:], r.secrets.input[:]} {
			seen[string(secret)] = true
		}
		parts[byte(int(r.secrets.blind[0])*16/top)] = true
	}
	if len(seen) != 3*512 || len(parts) != 16 {
		t.Errorf("%d different secrets in %d parts of the range, want 1536 in 16", len(seen), len(parts))
	}
}

// Why every round has a key of its own. An issuer with one key for many rounds signs one
// message for each round that a client names, and cannot see what it signs: the client gets
// a token for round A from each of them.
func TestOneKeyForManyRoundsGivesManyTokensInOne(t *testing.T) {
	const rounds = 20
	key, der := testKey(t)
	digestA := [32]byte{0xA}
	v, err := NewVerifier(der, digestA)
	if err != nil {
		t.Fatal(err)
	}
	type asked struct {
		client string
		round  int
	}
	issued, tokens := map[asked]bool{}, map[string]bool{}
	for n := range rounds {
		if name := (asked{"mallory", n}); issued[name] {
			t.Fatal("the issuer signs once for each client and round")
		} else {
			issued[name] = true
		}
		r := request(t, der, digestA) // whatever n is
		token := finalize(t, r, sign(t, key, r.BlindedMessage()))
		if err := v.Verify(token); err != nil {
			t.Fatal(err)
		}
		tokens[string(token)] = true
	}
	if len(tokens) != rounds {
		t.Errorf("%d tokens for round A, want %d", len(tokens), rounds)
	}
}
