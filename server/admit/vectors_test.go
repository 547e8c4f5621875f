package admit

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"testing"

	"github.com/cloudflare/circl/blindsign/blindrsa"
)

// hexBytes are bytes that stand as hexadecimal digits in a file of test vectors.
type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

func (h hexBytes) integer() *big.Int { return new(big.Int).SetBytes(h) }

func readVectors(t testing.TB, file string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// testKey returns the private key of RFC 9578's test vectors and its encoded public key.
func testKey(t testing.TB) (*rsa.PrivateKey, []byte) {
	t.Helper()
	text, err := os.ReadFile("testdata/rfc9578-key.pem")
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	der, err := MarshalKey(&key.(*rsa.PrivateKey).PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return key.(*rsa.PrivateKey), der
}

// RFC 9474, Appendix A.3: RSABSSA-SHA384-PSS-Deterministic. The library computes it, with the
// order in which Request makes it draw.
func TestTheVectorOfRFC9474(t *testing.T) {
	var v struct {
		P, Q, N, D, Msg, Salt, Inv hexBytes
		BlindedMsg                 hexBytes `json:"blinded_msg"`
		BlindSig                   hexBytes `json:"blind_sig"`
		Sig                        hexBytes
	}
	readVectors(t, "rfc9474-pss-deterministic.json", &v)
	key := &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: v.N.integer(), E: exponent}, D: v.D.integer(), Primes: []*big.Int{v.P.integer(), v.Q.integer()},
	}
	client, err := blindrsa.NewClient(blindrsa.SHA384PSSDeterministic, &key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	r := new(big.Int).ModInverse(v.Inv.integer(), key.N).FillBytes(make([]byte, 512))
	blinded, state, err := client.Blind(bytes.NewReader(append(bytes.Clone(v.Salt), r...)), v.Msg)
	if err != nil || !bytes.Equal(blinded, v.BlindedMsg) {
		t.Fatalf("blinded message %x, %v, want %x", blinded, err, v.BlindedMsg)
	}
	answer, err := blindrsa.NewSigner(key).BlindSign(blinded)
	if err != nil || !bytes.Equal(answer, v.BlindSig) {
		t.Fatalf("blind signature %x, %v, want %x", answer, err, v.BlindSig)
	}
	if sig, err := client.Finalize(state, answer); err != nil || !bytes.Equal(sig, v.Sig) {
		t.Errorf("signature %x, %v, want %x", sig, err, v.Sig)
	}
}

// RFC 9577, Appendix B: what a token signs, for challenges of every form.
func TestTheVectorsOfRFC9577(t *testing.T) {
	var vectors []struct {
		IssuerName        hexBytes `json:"issuer_name"`
		RedemptionContext hexBytes `json:"redemption_context"`
		OriginInfo        hexBytes `json:"origin_info"`
		Nonce             hexBytes
		TokenKeyID        hexBytes `json:"token_key_id"`
		Input             hexBytes `json:"token_authenticator_input"`
	}
	readVectors(t, "rfc9577-tokens.json", &vectors)
	if len(vectors) != 5 {
		t.Fatalf("%d vectors", len(vectors))
	}
	for i, v := range vectors {
		challenge := sha256.Sum256(marshalChallenge(string(v.IssuerName), v.RedemptionContext, string(v.OriginInfo)))
		input := bytes.Join([][]byte{{0, tokenType}, v.Nonce, challenge[:], v.TokenKeyID}, nil)
		if !bytes.Equal(input, v.Input) {
			t.Errorf("vector %d: input %x, want %x", i, input, v.Input)
		}
	}
}

// issuance is a test vector of RFC 9578, Appendix B.2.
type issuance struct {
	TokenChallenge hexBytes `json:"token_challenge"`
	Nonce          hexBytes
	Blind          hexBytes
	Salt           hexBytes
	TokenRequest   hexBytes `json:"token_request"`
	TokenResponse  hexBytes `json:"token_response"`
	Token          hexBytes
}

func readIssuances(t testing.TB) (file struct {
	PkS     hexBytes
	Vectors []issuance
}) {
	t.Helper()
	readVectors(t, "rfc9578-type2.json", &file)
	return file
}

// request makes the request of a vector.
func (v issuance) request(t testing.TB, issuerKey []byte) *Request {
	t.Helper()
	verifier, err := NewVerifier(issuerKey, [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	verifier.challenge = sha256.Sum256(v.TokenChallenge) // of another issuer_name than ours
	var s secrets
	input := bytes.Join([][]byte{{0, tokenType}, v.Nonce, verifier.challenge[:], verifier.keyID[:]}, nil)
	if copy(s.input[:], input) != copy(s.input[:], v.Token) || copy(s.salt[:], v.Salt) != 48 || copy(s.blind[:], v.Blind) != 256 {
		t.Fatal("a vector has other lengths")
	}
	r, err := newRequest(verifier, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// RFC 9578, Appendix B.2: issuance of tokens of type 2, from the key to the token.
func TestTheVectorsOfRFC9578(t *testing.T) {
	file := readIssuances(t)
	key, der := testKey(t)
	if !bytes.Equal(der, file.PkS) {
		t.Errorf("the key is encoded as %x, want %x", der, file.PkS)
	}
	if len(file.Vectors) != 5 {
		t.Fatalf("%d vectors", len(file.Vectors))
	}
	for i, v := range file.Vectors {
		r := v.request(t, file.PkS)
		// A request of the RFC is the type, the last byte of the key's id and the message.
		if id := r.KeyID(); !bytes.Equal(append([]byte{0, tokenType, id[31]}, r.BlindedMessage()...), v.TokenRequest) {
			t.Errorf("vector %d: blinded message %x, want %x", i, r.BlindedMessage(), v.TokenRequest)
		}
		if answer, err := blindrsa.NewSigner(key).BlindSign(r.BlindedMessage()); err != nil || !bytes.Equal(answer, v.TokenResponse) {
			t.Errorf("vector %d: blind signature %x, %v, want %x", i, answer, err, v.TokenResponse)
		}
		if token, err := r.Finalize(v.TokenResponse); err != nil || !bytes.Equal(token, v.Token) {
			t.Errorf("vector %d: token %x, %v, want %x", i, token, err, v.Token)
		}
	}
}
