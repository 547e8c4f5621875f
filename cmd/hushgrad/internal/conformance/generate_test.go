package conformance

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cloudflare/circl/blindsign/blindrsa"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hushgrad/hushgrad/fl"
	_ "github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/seal"
)

const (
	vectorsFile = "vectors.jsonl"
	formatPage  = "docs/report-format.md"
)

var update = flag.Bool("update", false, "write "+vectorsFile)

// maker makes cases. Whatever fails ends the test.
type maker struct {
	t     *testing.T
	cases []Case
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// add adds a case. Its answer is refused or not, as the caller says.
func (m *maker) add(c Case, refused bool) {
	m.t.Helper()
	c.ID = len(m.cases) + 1
	if c.Subject != Encode {
		want := Respond(c)
		want.ID = 0
		if (want.Refused != "") != refused || want.Unsupported {
			m.t.Fatalf("%s/%s: %+v", c.Subject, c.Name, want)
		}
		if refused {
			want.Refused = "yes"
		}
		c.Want = &want
	}
	m.cases = append(m.cases, c)
}

// round returns a whole round of a mechanism.
func (m *maker) round(r fl.Round, change ...func(*fl.Round)) fl.Round {
	m.t.Helper()
	r.ID, r.Scale, r.MinReports, r.PublicSeed = "conformance", 1, 1, [32]byte{1, 2, 3}
	if r.Relation == 0 {
		r.Relation = fl.ReplaceOne
	}
	for _, c := range change {
		c(&r)
	}
	whole, _, err := fl.Complete(r)
	if err != nil {
		m.t.Fatalf("%s: %v", r.Mechanism, err)
	}
	return whole
}

func (m *maker) binary(r fl.Round) []byte {
	m.t.Helper()
	return must[[]byte](m.t)(r.MarshalBinary())
}

// text returns the JSON form of a round. protojson puts blanks where it likes.
func (m *maker) text(r fl.Round) []byte {
	m.t.Helper()
	return must[[]byte](m.t)(json.Marshal(json.RawMessage(must[[]byte](m.t)(protojson.MarshalOptions{UseProtoNames: true}.Marshal(r.Proto())))))
}

func TestMakeTheVectors(t *testing.T) {
	if !*update {
		t.Skip("writes with -update")
	}
	m := &maker{t: t}
	m.rounds()
	m.encodings()
	m.publicKeys()
	m.reports()
	m.seeds()
	m.tokens()
	m.sealed(Sealed)
	m.sealed(SealedShare)
	m.tags()
	m.encoders()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	for _, c := range m.cases {
		if err := e.Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(vectorsFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// full is a round with most fields.
func (m *maker) full() fl.Round {
	r := m.round(fl.Round{Mechanism: "coco", Dim: 1000, Epsilon: 2.5, Params: fl.Params{"sparsity": fl.Int(16)}, Columns: []string{"frequency"}})
	r.Scale, r.MinReports, r.TargetReports, r.Relation = 0.1, 100, 1000, fl.ZeroOut
	r.Deadline = time.Date(2031, 2, 3, 4, 5, 6, 7, time.UTC)
	r.Features = "edges:00ff"
	return r
}

func (m *maker) rounds() {
	small := m.round(fl.Round{Mechanism: "coco", Dim: 5, Epsilon: 1, Params: fl.Params{"sparsity": fl.Int(2)}})
	none := m.round(fl.Round{Mechanism: "none", Dim: 3, Epsilon: math.Inf(1)})
	values := small
	values.Params = fl.Params{"b": fl.Int(-1), "a": fl.Text("é"), "ab": fl.Real(-0.5), "zero": fl.Int(0), "nothing": fl.Real(0), "empty": fl.Text("")}
	sealed := m.full()
	sealed.Shuffler, sealed.IssuerKey, sealed.OuterIssuerKey = "shuffler.example", []byte{1, 2}, []byte{3}
	sealed.SealKey, sealed.ShareKey = []byte{4, 5, 6}, []byte{7}
	long := small
	long.PublicSeed, long.Dim = sha256.Sum256(nil), fl.MaxDim
	for _, good := range []struct {
		name  string
		round fl.Round
	}{{"small", small}, {"infinite-epsilon", none}, {"full", m.full()}, {"parameters", values}, {"keys", sealed}, {"large", long}} {
		m.add(Case{Subject: Round, Name: good.name, RoundJSON: m.text(good.round), Where: formatPage + "#the-round"}, false)
	}
	for _, bad := range []struct {
		name   string
		change func(*fl.Round)
	}{
		{"no-id", func(r *fl.Round) { r.ID = "" }}, {"id-with-a-blank", func(r *fl.Round) { r.ID = "a b" }},
		{"no-coordinates", func(r *fl.Round) { r.Dim = 0 }}, {"too-many-coordinates", func(r *fl.Round) { r.Dim = fl.MaxDim + 1 }},
		{"no-scale", func(r *fl.Round) { r.Scale = 0 }}, {"scale-is-no-number", func(r *fl.Round) { r.Scale = math.NaN() }},
		{"negative-epsilon", func(r *fl.Round) { r.Epsilon = -1 }}, {"delta-of-one", func(r *fl.Round) { r.Delta = 1 }},
		{"no-relation", func(r *fl.Round) { r.Relation = 0 }}, {"target-below-minimum", func(r *fl.Round) { r.MinReports, r.TargetReports = 3, 2 }},
		{"column-twice", func(r *fl.Round) { r.Columns = []string{"frequency", "frequency"} }},
		{"shuffler-without-a-key", func(r *fl.Round) { r.Shuffler = "shuffler.example" }},
	} {
		r := small
		bad.change(&r)
		m.add(Case{Subject: Round, Name: bad.name, RoundJSON: m.text(r), Where: "proto/hushgrad/v1/round.proto"}, true)
	}
}

func (m *maker) encodings() {
	add := func(name string, data []byte, refused bool) {
		m.add(Case{Subject: Encoding, Name: name, Round: data, Where: formatPage + "#the-round"}, refused)
	}
	r := m.round(fl.Round{Mechanism: "coco", Dim: 5, Epsilon: 1, Params: fl.Params{"sparsity": fl.Int(2), "slots": fl.Int(8), "hash": fl.Text("gf2")}})
	good := m.binary(r)
	add("canonical", good, false)
	add("canonical-full", m.binary(m.full()), false)
	add("empty", nil, true)
	add("cut", good[:len(good)-1], true)
	add("unknown-field", binary.AppendUvarint(binary.AppendUvarint(slices.Clone(good), 50<<3), 1), true)
	add("default-value", append(slices.Clone(good), 10<<3, 0), true) // target_reports = 0, at a wrong place, too
	idEnd := 2 + int(good[1])
	add("order-of-fields", slices.Concat(good[idEnd:], good[:idEnd]), true)
	add("field-twice", slices.Concat(good[:idEnd], good), true)
	add("long-varint", slices.Concat(good[:1], []byte{good[1] | 0x80, 0}, good[2:]), true)
	// The parameters follow the mechanism: hash, slots and sparsity, each behind the tag 0x1a.
	rest, parts := good[idEnd+2+int(good[idEnd+1]):], [][]byte(nil)
	for rest[0] == 0x1a {
		n := 2 + int(rest[1])
		parts, rest = append(parts, rest[:n]), rest[n:]
	}
	add("order-of-parameters", slices.Concat(good[:idEnd+2+int(good[idEnd+1])], parts[1], parts[0], parts[2], rest), true)
	add("parameter-twice", slices.Concat(good[:idEnd+2+int(good[idEnd+1])], parts[0], parts[0], parts[1], parts[2], rest), true)
}

func (m *maker) publicKeys() {
	r := m.binary(m.round(fl.Round{Mechanism: "coco", Dim: 5, Epsilon: 1, Params: fl.Params{"sparsity": fl.Int(2)}}))
	for _, purpose := range []string{"coco/hash", "collision/hash", "signsketch/hash", "hdsum/signs", "privunit/candidates"} {
		m.add(Case{Subject: PublicKey, Name: purpose, Round: r, Purpose: purpose, Where: formatPage + "#coco-collision-and-signsketch"}, false)
	}
}

func (m *maker) seeds() {
	token := make([]byte, admit.TokenBytes)
	m.add(Case{Subject: Seed, Name: "zeros", Token: slices.Clone(token), Where: formatPage + "#coco-collision-and-signsketch"}, false)
	for i := range token {
		token[i] = byte(i)
	}
	m.add(Case{Subject: Seed, Name: "counting", Token: token, Where: formatPage + "#coco-collision-and-signsketch"}, false)
}

func (m *maker) tags() {
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(i)
	}
	m.add(Case{Subject: Tag, Name: "three-bytes", TagKey: key, Share: Hex{1, 2, 3}, Where: formatPage + "#gaussian-shares"}, false)
}

// issuer returns the key of RFC 9578's test vectors.
func (m *maker) issuer() (*rsa.PrivateKey, []byte) {
	block, _ := pem.Decode(must[[]byte](m.t)(os.ReadFile("../../../../server/admit/testdata/rfc9578-key.pem")))
	key := must[any](m.t)(x509.ParsePKCS8PrivateKey(block.Bytes)).(*rsa.PrivateKey)
	return key, must[[]byte](m.t)(admit.MarshalKey(&key.PublicKey))
}

func (m *maker) tokens() {
	private, public := m.issuer()
	r := m.round(fl.Round{Mechanism: "coco", Dim: 5, Epsilon: 1, Params: fl.Params{"sparsity": fl.Int(2)}}, func(r *fl.Round) { r.IssuerKey = public })
	digest := must[[32]byte](m.t)(r.Digest())
	request := must[*admit.Request](m.t)(admit.NewRequest(public, digest))
	token := must[[]byte](m.t)(request.Finalize(must[[]byte](m.t)(blindrsa.NewSigner(private).BlindSign(request.BlindedMessage()))))
	add := func(name string, round fl.Round, token []byte, refused bool) {
		m.add(Case{Subject: Token, Name: name, Round: m.binary(round), IssuerKey: public, Token: token, Where: "server/admit/doc.go"}, refused)
	}
	add("good", r, token, false)
	other := r
	other.ID = "other"
	add("another-round", other, token, true)
	for _, at := range []struct {
		name string
		byte int
	}{{"type", 1}, {"nonce", 2}, {"challenge", 34}, {"key-id", 66}, {"signature", 98}, {"end-of-signature", admit.TokenBytes - 1}} {
		bad := slices.Clone(token)
		bad[at.byte] ^= 1
		add("changed-"+at.name, r, bad, true)
	}
	add("cut", r, token[:len(token)-1], true)
	add("long", r, append(slices.Clone(token), 0), true)
	// The signature plus the modulus is the same number modulo it.
	var sum [admit.SignatureBytes]byte
	carry := 0
	for i, n := admit.SignatureBytes-1, private.N.Bytes(); i >= 0; i-- {
		carry += int(token[98+i]) + int(n[i])
		sum[i], carry = byte(carry), carry>>8
	}
	if carry == 0 {
		add("signature-above-the-modulus", r, append(slices.Clone(token[:98]), sum[:]...), true)
	}
}

func (m *maker) sealed(subject string) {
	rng := rand.NewChaCha8([32]byte{5})
	for _, suite := range []struct {
		name seal.Suite
		kem  hpke.KEM
		id   []byte
	}{
		{seal.X25519, hpke.DHKEM(ecdh.X25519()), []byte{0, 0x20, 0, 1, 0, 1}},
		{seal.Hybrid, hpke.MLKEM768X25519(), []byte{0x64, 0x7a, 0, 1, 0, 2}},
	} {
		key := func() (private, public []byte) {
			seed := make([]byte, 32)
			_, _ = rng.Read(seed) // never fails
			k := must[hpke.PrivateKey](m.t)(suite.kem.DeriveKeyPair(seed))
			return must[[]byte](m.t)(k.Bytes()), append(slices.Clone(suite.id), k.PublicKey().Bytes()...)
		}
		private, public := key()
		sharePrivate, sharePublic := key()
		r := fl.Round{Mechanism: "coco", Dim: 5, Epsilon: 1, Params: fl.Params{"sparsity": fl.Int(2)}}
		if subject == SealedShare {
			r = fl.Round{Mechanism: "gaussian-shares", Dim: 3, Epsilon: 1, Delta: 1e-6}
		}
		r = m.round(r, func(r *fl.Round) {
			r.Shuffler, r.SealKey = "shuffler.example", public
			if subject == SealedShare {
				r.ShareKey = sharePublic
				private, sharePrivate = sharePrivate, private
			}
		})
		m.sealedItems(string(suite.name), subject, r, private, sharePrivate)
	}
}

// sealedItems adds an item that opens, and items that do not.
func (m *maker) sealedItems(name, subject string, r fl.Round, private, wrong []byte) {
	opened := must[fl.Mechanism](m.t)(fl.Open(r))
	gradient := make([]float64, r.Dim)
	gradient[0] = 1
	sealer := must[*seal.ItemSealer](m.t)(seal.NewItemSealer(r, opened))
	item := must[[]byte](m.t)(sealer.Item(must[[]byte](m.t)(opened.Encode(nil, gradient, nil)), nil))
	add := func(what string, r fl.Round, item, private []byte, refused bool) {
		m.add(Case{Subject: subject, Name: name + "-" + what, Round: m.binary(r), PrivateKey: private, Item: item, Where: "server/seal/doc.go"}, refused)
	}
	add("good", r, item, private, false)
	changed := func(at int) []byte {
		bad := slices.Clone(item)
		bad[at] ^= 1
		return bad
	}
	add("changed-end", r, changed(len(item)-1), private, true)
	if len(item) > 1000 { // a few cases of the long items are enough
		return
	}
	other := r
	other.ID = "other"
	add("another-round", other, item, private, true)
	add("another-key", r, item, wrong, true)
	add("changed-beginning", r, changed(0), private, true)
	add("cut", r, item[:len(item)-1], private, true)
	add("long", r, append(slices.Clone(item), 0), private, true)
}
