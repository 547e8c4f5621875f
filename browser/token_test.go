package browser

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// certificate makes a certificate for 127.0.0.1 that signs itself, and the option with which a browser
// trusts its key.
func certificate(t *testing.T, dir string) (cert, key string, trusted chromedp.ExecAllocatorOption) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256(public)
	return cert, key, chromedp.Flag("ignore-certificate-errors-spki-list", base64.StdEncoding.EncodeToString(sum[:]))
}

// admitted draws secrets for clients. It returns them as a list in JSON, and the issuer's file.
func admitted(t *testing.T, binary, dir string, names ...string) (secrets, bearers string) {
	t.Helper()
	var all, lines []string
	for _, name := range names {
		text := strings.Split(inModule(t, binary, "issue", "bearer", name), "\n")
		all, lines = append(all, text[0]), append(lines, text[1]+"\n")
	}
	bearers = filepath.Join(dir, "bearers")
	if err := os.WriteFile(bearers, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), bearers
}

// parties are where they answer, and the secrets of clients as a list in JSON.
type parties struct{ issuer, shuffler, server, secrets string }

// fields returns the values of a request's body, as bytes where they are base64.
func (s sent) fields(t *testing.T) map[string][]byte {
	t.Helper()
	var texts map[string]string
	if err := json.Unmarshal([]byte(s.body), &texts); err != nil {
		t.Fatalf("%s: %q: %v", s.url, s.body, err)
	}
	out := map[string][]byte{}
	for name, text := range texts {
		out[name] = []byte(text)
		if data, err := base64.StdEncoding.DecodeString(text); err == nil && name != "roundId" {
			out[name] = data
		}
	}
	return out
}

// apart checks what each party gets, as the browser's network log has it: the issuer gets blinded messages
// and secrets and nothing of a token, and the others nothing that the issuer has seen.
func apart(t *testing.T, all []sent, p parties) {
	t.Helper()
	var secrets []string
	if err := json.Unmarshal([]byte(p.secrets), &secrets); err != nil {
		t.Fatal(err)
	}
	known := func(r sent) int { // the client whose secret is there, or -1
		return slices.IndexFunc(secrets, func(secret string) bool { return strings.Contains(r.headers+r.body+r.url, secret) })
	}
	var blinded, tokens, outer [][]byte // the last ones are sent to the shuffler
	asked := map[int]int{}
	for _, r := range all {
		switch {
		case r.method == "OPTIONS":
		case strings.HasPrefix(r.url, p.issuer):
			f := r.fields(t)
			if names := slices.Sorted(maps.Keys(f)); !slices.Equal(names, []string{"blindedMessage", "tokenKeyId"}) || len(f["blindedMessage"]) != 256 || len(f["tokenKeyId"]) != 32 || r.url != p.issuer+"/hushgrad.v1.Issuer/IssueToken" {
				t.Errorf("the issuer gets %q at %s", r.body, r.url)
			}
			blinded = append(blinded, f["blindedMessage"])
			asked[known(r)]++
		default:
			f := r.fields(t)
			want := []string{"roundId"}
			if sends := strings.HasSuffix(r.url, "/SubmitBatch"); sends && strings.HasPrefix(r.url, p.server) {
				want = []string{"reports", "roundDigest", "roundId", "tokens"}
				tokens = append(tokens, f["tokens"])
			} else if sends {
				want = []string{"reports", "roundDigest", "roundId", "tokens"}
				outer = append(outer, f["tokens"])
			}
			if names := slices.Sorted(maps.Keys(f)); !slices.Equal(names, want) || !strings.HasPrefix(r.url, p.shuffler+"/") && !strings.HasPrefix(r.url, p.server+"/") {
				t.Errorf("%s gets %v, want %v", r.url, names, want)
			}
			if i := known(r); i >= 0 {
				t.Errorf("%s gets the secret of client %d", r.url, i)
			}
		}
	}
	// Two clients ask once in one round, and twice in the other one, which has a shuffler. The first client sends
	// its reports twice.
	if asked[0] != 3 || asked[1] != 3 || len(blinded) != 6 || len(tokens) != 3 || len(outer) != 3 {
		t.Errorf("%d requests of tokens, by clients %v, and %d and %d tokens are sent; want 6, 3 by each client, 3 and 3", len(blinded), asked, len(tokens), len(outer))
	}
	for _, token := range slices.Concat(tokens, outer) {
		if len(token) != 354 {
			t.Fatalf("a token of %d bytes", len(token))
		}
	}
	for _, r := range all {
		if r.method == "OPTIONS" {
			continue
		}
		for name, data := range r.fields(t) {
			for _, message := range blinded {
				if !strings.HasPrefix(r.url, p.issuer) && bytes.Contains(data, message) {
					t.Errorf("%s gets a blinded message as %s", r.url, name)
				}
			}
			for party, theirs := range map[string][][]byte{p.server: tokens, p.shuffler: outer} {
				for _, token := range theirs {
					nonce, signature := token[2:34], token[98:]
					if !strings.HasPrefix(r.url, party) && (bytes.Contains(data, nonce) || bytes.Contains(data, signature)) {
						t.Errorf("%s gets a token of %s as %s", r.url, party, name)
					}
				}
			}
		}
	}
}
