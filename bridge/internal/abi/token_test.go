package abi

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cloudflare/circl/blindsign/blindrsa"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/seal"
)

// issuerKey returns the private key of RFC 9578's test vectors, and its public half.
func issuerKey(t *testing.T) (*rsa.PrivateKey, []byte) {
	t.Helper()
	text, err := os.ReadFile("../../../server/admit/testdata/rfc9578-key.pem")
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	public, err := admit.MarshalKey(&key.(*rsa.PrivateKey).PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return key.(*rsa.PrivateKey), public
}

// outerKey returns the private key of another issuer's key, and its public half.
func outerKey(t *testing.T) (*rsa.PrivateKey, []byte) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, admit.KeyBits)
	if err != nil {
		t.Fatal(err)
	}
	public, err := admit.MarshalKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return key, public
}

// asking returns the canonical bytes of a round that asks for tokens of a key, with the shuffler if there is
// a key to seal to and an outer key, and its digest.
func asking(t *testing.T, key, outer []byte, sealed *seal.Key) (description []byte, digest [32]byte) {
	t.Helper()
	r := fl.Round{
		ID: "r", Mechanism: "coco", Dim: 4, Scale: 1, Epsilon: 4, Relation: fl.ReplaceOne, MinReports: 3,
		Params: fl.Params{"sparsity": fl.Int(2)}, PublicSeed: fl.NewPublicSeed(), IssuerKey: key,
	}
	if sealed != nil {
		r.Shuffler, r.SealKey, r.OuterIssuerKey = shuffler, sealed.Public(), outer
	}
	r, _, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	if description, err = r.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	if digest, err = r.Digest(); err != nil {
		t.Fatal(err)
	}
	return description, digest
}

const withTokens = `{"policy": {"max_epsilon": 4}, "tokens": true}`

// signed is what an issuer with these keys answers to the token_requests of a round.
func signed(t *testing.T, opened map[string]any, keys ...*rsa.PrivateKey) (answers []byte) {
	t.Helper()
	requests := opened["token_requests"].([]any)
	if len(requests) != len(keys) {
		t.Fatalf("%d requests, want %d", len(requests), len(keys))
	}
	for i, request := range requests {
		blinded, err := base64.StdEncoding.DecodeString(fmt.Sprint(request.(map[string]any)["blinded_message"]))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := blindrsa.NewSigner(keys[i]).BlindSign(blinded)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer...)
	}
	return answers
}

// A client gets one token, and makes one report with it.
func TestARoundWithTokensGetsOneReport(t *testing.T) {
	key, public := issuerKey(t)
	description, digest := asking(t, public, nil, nil)
	c := newCaller(t)
	opened, _ := c.must("round.open", withTokens, description)
	other, _ := c.must("round.open", withTokens, description)
	var report []byte
	ask := func(rows int) string {
		_, out, failed := c.ask("encode", fmt.Sprintf(`{"round": %v, "type": "f4", "rows": %d}`, opened["round"], rows), floats(true, 1, 2, 3, 4))
		if failed == nil {
			report = out
			return ""
		}
		return failed.Param + " = " + failed.Got
	}
	if got := ask(1); got != `token = "nothing"` {
		t.Errorf("a report without a token: %q", got)
	}
	args := fmt.Sprintf(`{"round": %v}`, opened["round"])
	for what, answer := range map[string][]byte{"nothing": nil, "zero": make([]byte, admit.SignatureBytes), "another request's signature": signed(t, other, key)} {
		if _, _, failed := c.ask("token", args, answer); failed == nil || failed.Param != "blind_signature" {
			t.Errorf("%s: %+v, want a refusal of the answer", what, failed)
		}
	}
	if got := ask(1); got != `token = "nothing"` {
		t.Errorf("a report after bad answers: %q", got)
	}
	_, token := c.must("token", args, signed(t, opened, key))
	verifier, err := admit.NewVerifier(public, digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(token); err != nil {
		t.Error(err)
	}
	if id := opened["token_requests"].([]any)[0].(map[string]any)["token_key_id"]; id != base64.StdEncoding.EncodeToString(token[66:98]) {
		t.Errorf("the request names the key %v", id)
	}
	for _, step := range []struct {
		rows int
		want string
	}{{2, "rows = 2"}, {1, ""}, {1, `token = "one that is spent"`}} {
		if got := ask(step.rows); got != step.want {
			t.Errorf("%d rows: %q, want %q", step.rows, got, step.want)
		}
	}
	if seed := binary.LittleEndian.Uint32(report); seed != admit.Seed(token) {
		t.Errorf("a report with the seed %d, the token assigns %d", seed, admit.Seed(token))
	}
}

// The server finds the first token behind the report in what a client has sealed. The second one is not in
// there: the shuffler gets it.
func TestTheTokenIsSealedWithItsReport(t *testing.T) {
	key, public := issuerKey(t)
	outer, outerPublic := outerKey(t)
	sealKey := newKey(t)
	description, digest := asking(t, public, outerPublic, sealKey)
	c := newCaller(t)
	opened, _ := c.must("round.open", withTokens, description)
	args := fmt.Sprintf(`{"round": %v}`, opened["round"])
	answers := signed(t, opened, key, outer)
	swapped := append(bytes.Clone(answers[admit.SignatureBytes:]), answers[:admit.SignatureBytes]...)
	for what, answer := range map[string][]byte{"one": answers[:admit.SignatureBytes], "the other order": swapped} {
		if _, _, failed := c.ask("token", args, answer); failed == nil || failed.Param != "blind_signature" {
			t.Errorf("%s: %+v, want a refusal of the answers", what, failed)
		}
	}
	_, both := c.must("token", args, answers)
	token, second := both[:admit.TokenBytes], both[admit.TokenBytes:]
	verifier, err := admit.NewVerifier(outerPublic, digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(second); err != nil {
		t.Errorf("the shuffler's token: %v", err)
	}
	_, item := c.must("encode", fmt.Sprintf(`{"round": %v, "type": "f4", "rows": 1}`, opened["round"]), floats(true, 1, 2, 3, 4))
	if reports, _ := unsealed(t, sealKey, nil, description, item); len(reports) != 1 || !bytes.HasSuffix(reports[0], token) || len(reports[0]) <= len(token) || binary.LittleEndian.Uint32(reports[0]) != admit.Seed(token) {
		t.Errorf("sealed was % x, want a report with the token's seed and the token % x", reports, token)
	}
	if size := opened["report_bytes"].(float64); len(item) != int(size) {
		t.Errorf("an item of %d bytes, want %v", len(item), size)
	}
}

func TestTokensAreForRoundsThatAskForThem(t *testing.T) {
	_, public := issuerKey(t)
	description, _ := asking(t, public, nil, nil)
	c := newCaller(t)
	if _, _, failed := c.ask("round.open", `{"policy": {"max_epsilon": 4}}`, description); failed == nil || failed.Kind != KindPolicy || failed.Param != "issuer_key" {
		t.Errorf("a caller that fetches no tokens: %+v", failed)
	}
	damaged, _ := asking(t, public[1:], nil, nil)
	if _, _, failed := c.ask("round.open", withTokens, damaged); failed == nil || failed.Param != "issuer_key" {
		t.Errorf("a key that is none: %+v", failed)
	}
	if _, _, failed := c.ask("round.open", strings.Replace(withTokens, "4", "3", 1), description); failed == nil || failed.Kind != KindPolicy || failed.Param != "epsilon" {
		t.Errorf("a policy that the round does not meet: %+v", failed)
	}
	unchecked, _ := c.must("round.open", `{"policy": null, "tokens": true}`, description)
	made, plain := c.must("round.new", small, nil)
	checked, _ := c.must("round.open", withTokens, plain)
	for what, r := range map[string]map[string]any{"no policy": unchecked, "round.new": made, "a round without tokens": checked} {
		if _, has := r["token_requests"]; has {
			t.Errorf("%s: there is a request", what)
		}
		if _, _, failed := c.ask("token", fmt.Sprintf(`{"round": %v}`, r["round"]), nil); failed == nil || failed.Param != "round" {
			t.Errorf("%s: %+v", what, failed)
		}
	}
	c.must("encode", fmt.Sprintf(`{"round": %v, "type": "f4", "rows": 2}`, checked["round"]), floats(true, 1, 2, 3, 4, 1, 2, 3, 4))
}
