package main

import (
	crand "crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"flag"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"testing"

	"github.com/cloudflare/circl/blindsign/blindrsa"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/privunit"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
)

// vectorsFile has what the tests in a browser compare with.
const vectorsFile = "testdata/vectors.json"

var update = flag.Bool("update", false, "write "+vectorsFile)

// vector is a round, and the report of the gradient (i·7919 mod 1000)/1000 − 1/2 in it, for the key of a
// ChaCha8 generator.
type vector struct {
	Name   string          `json:"name"`
	Round  json.RawMessage `json:"round"`
	Seed   string          `json:"seed"`   // hexadecimal, as is the report
	Report string          `json:"report"` // packed
}

func vectors(t *testing.T) (cases []vector) {
	for i, r := range []fl.Round{
		{Mechanism: coco.Name, Dim: 7850, Params: fl.Params{sparse.ParamSparsity: fl.Int(64)}},
		{Mechanism: coco.Name, Dim: 1000, Params: fl.Params{sparse.ParamSparsity: fl.Int(8)}},
		{Mechanism: collision.Name, Dim: 1000, Params: fl.Params{sparse.ParamSparsity: fl.Int(8)}},
		{Mechanism: signsketch.Name, Dim: 1000, Params: fl.Params{sparse.ParamSparsity: fl.Int(8)}},
		{Mechanism: mechanisms.Auto, Dim: 500, MinReports: 1000, Params: fl.Params{sparse.ParamSparsity: fl.Int(4)}},
		{Mechanism: baseline.Laplace, Dim: 10},
		{Mechanism: baseline.Gaussian, Dim: 10, Delta: 1e-6},
		{Mechanism: privunit.Name, Dim: 650},
	} {
		v, _ := vectorOf(t, r, [32]byte{byte(i + 1), 42})
		cases = append(cases, v)
	}
	return cases
}

// vectorOf completes a round and makes its report.
func vectorOf(t *testing.T, r fl.Round, seed [32]byte) (vector, fl.Round) {
	t.Helper()
	r.ID, r.Scale, r.Epsilon, r.Relation, r.MinReports = "vectors", 0.5, 4, fl.ReplaceOne, max(r.MinReports, 100)
	r.PublicSeed = seed
	r, m, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	packed := packedBy(t, m, r.Dim, seed)
	round, err := protojson.Marshal(r.Proto())
	if err != nil {
		t.Fatal(err)
	}
	var spaced any // protojson puts spaces at random
	if err := json.Unmarshal(round, &spaced); err != nil {
		t.Fatal(err)
	}
	if round, err = json.Marshal(spaced); err != nil {
		t.Fatal(err)
	}
	return vector{r.Mechanism, round, hex.EncodeToString(seed[:]), hex.EncodeToString(packed)}, r
}

// packedBy returns the report of a mechanism, packed.
func packedBy(t *testing.T, m fl.Mechanism, dim int, seed [32]byte) []byte {
	t.Helper()
	gradient := make([]float64, dim)
	for i := range gradient {
		gradient[i] = float64(i*7919%1000)/1000 - 0.5
	}
	report, err := m.Encode(nil, gradient, rand.New(rand.NewChaCha8(seed)))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := fl.PackReports(m, nil, report)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// tokenVector is a vector of a round that asks for tokens. The issuer's key is the key of RFC 9578's test vectors.
// Each draw of random bytes is the seed, as often as it fits.
type tokenVector struct {
	vector
	Blinded   string `json:"blinded"`   // what the issuer signs
	Signature string `json:"signature"` // what it answers
	Token     string `json:"token"`
}

// again reads as the same bytes, from their beginning at each call.
type again [32]byte

// Read implements io.Reader.
func (a again) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = a[i%len(a)]
	}
	return len(p), nil
}

func tokenVectors(t *testing.T) []tokenVector {
	t.Helper()
	text, err := os.ReadFile("../../server/admit/testdata/rfc9578-key.pem")
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	private := parsed.(*rsa.PrivateKey)
	public, err := admit.MarshalKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	seed := [32]byte{99, 42}
	v, round := vectorOf(t, fl.Round{Mechanism: coco.Name, Dim: 1000, Params: fl.Params{sparse.ParamSparsity: fl.Int(8)}, IssuerKey: public}, seed)
	digest, err := round.Digest()
	if err != nil {
		t.Fatal(err)
	}
	system := crand.Reader
	crand.Reader = again(seed)
	request, err := admit.NewRequest(public, digest)
	crand.Reader = system
	if err != nil {
		t.Fatal(err)
	}
	signature, err := blindrsa.NewSigner(private).BlindSign(request.BlindedMessage())
	if err != nil {
		t.Fatal(err)
	}
	token, err := request.Finalize(signature)
	if err != nil {
		t.Fatal(err)
	}
	m, err := fl.Open(round)
	if err != nil {
		t.Fatal(err)
	}
	v.Report = hex.EncodeToString(packedBy(t, m.(fl.SeededMechanism).WithSeed(admit.Seed(token)), round.Dim, seed))
	return []tokenVector{{v, hex.EncodeToString(request.BlindedMessage()), hex.EncodeToString(signature), hex.EncodeToString(token)}}
}

// The vectors that a browser has to reproduce are what this code makes. They were computed on amd64:
// other processors may round once where amd64 rounds twice.
func TestVectorsAreCurrent(t *testing.T) {
	type file struct {
		Cases  []vector      `json:"cases"`
		Tokens []tokenVector `json:"tokens"`
	}
	want := file{vectors(t), tokenVectors(t)}
	if *update {
		text, err := json.MarshalIndent(want, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorsFile, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the vectors are for amd64")
	}
	text, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var got file
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	compact := func(round *json.RawMessage) {
		var any any
		if err := json.Unmarshal(*round, &any); err != nil {
			t.Fatal(err)
		}
		*round, _ = json.Marshal(any)
	}
	for i := range got.Cases {
		compact(&got.Cases[i].Round)
	}
	for i := range got.Tokens {
		compact(&got.Tokens[i].Round)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s is not current: go test ./bridge/web -update", vectorsFile)
	}
}
