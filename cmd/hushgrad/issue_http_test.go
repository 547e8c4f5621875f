package main

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
)

const issueTokenPath = "/hushgrad.v1.Issuer/IssueToken"

// answerTo sends a request with headers in pairs and returns status and body.
func answerTo(t *testing.T, client *http.Client, method, url, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// tokenBody is what IssueToken takes, in JSON.
func tokenBody(keyID, blinded []byte) string {
	return fmt.Sprintf(`{"tokenKeyId": %q, "blindedMessage": %q}`, base64.StdEncoding.EncodeToString(keyID), base64.StdEncoding.EncodeToString(blinded))
}

// newTokenRequest draws a request for a token of a round.
func newTokenRequest(t *testing.T, r fl.Round) (request *admit.Request, body string) {
	t.Helper()
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if request, err = admit.NewRequest(r.IssuerKey, digest); err != nil {
		t.Fatal(err)
	}
	id := request.KeyID()
	return request, tokenBody(id[:], request.BlindedMessage())
}

// signatureIn is the blind signature of an answer of IssueToken.
func signatureIn(t *testing.T, text string) []byte {
	t.Helper()
	var answer struct{ BlindSignature []byte }
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return answer.BlindSignature
}

// secure returns a client of HTTP/1.1 or h2 that shows the certificates.
func secure(t *testing.T, config *tls.Config, h2 bool) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: h2}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// askedForTokens opens a round with a key of an issuer, which keys reaches as the operator, and returns
// it as a client reads it over HTTP.
func askedForTokens(t *testing.T, operator, web string, keys []string) fl.Round {
	t.Helper()
	pem := writeFile(t, t.TempDir(), "r.pem", printed(t, append([]string{"issue", "key", "--id", "r"}, keys...)...))
	printed(t, "round", "--server", operator, "--id", "r", "--dim", "4", "--epsilon", "5", "--min-reports", "1", "--param", "sparsity=2", "--issuer-key", pem)
	code, text := answerTo(t, http.DefaultClient, http.MethodPost, "http://"+web+getRoundPath, `{"roundId": "r"}`)
	var answer service.GetRoundResponse
	if err := protojson.Unmarshal([]byte(text), &answer); code != http.StatusOK || err != nil {
		t.Fatalf("GetRound: %d %s, %v", code, text, err)
	}
	r, err := fl.RoundFromProto(answer.GetStatus().GetRound())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// With JSON alone a client gets its token, which the server takes once. It is one client, over gRPC and
// over HTTP.
func TestAClientGetsItsTokenOverHTTP(t *testing.T) {
	dir, web, issuerWeb := t.TempDir(), freeAddress(t), freeAddress(t)
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	_, pool := selfSigned(t, cert, key)
	lines := strings.Split(printed(t, "issue", "bearer", "anna"), "\n")
	secret := lines[0]
	clients, operator := parts(t, run(t, "--http", web))
	addresses := runIssue(t, "--tls-cert", cert, "--tls-key", key, "--bearer-file", writeFile(t, dir, "bearers", lines[1]+"\n"), "--http", issuerWeb, "--http-origin", "https://example.org")
	issuers, keys := addresses[0], addresses[1]
	if complaint(t, "issue", "keys", "--server", keys, "--tls-ca", cert) != "" {
		issuers, keys = keys, issuers
	}
	client, url := secure(t, &tls.Config{RootCAs: pool}, false), "https://"+issuerWeb+issueTokenPath
	if code, text, major := post(t, secure(t, &tls.Config{RootCAs: pool}, true), url); code != http.StatusUnauthorized || !strings.Contains(text, `"unauthenticated"`) || major != 2 {
		t.Errorf("nobody: %d %s over HTTP/%d, want a refusal over h2", code, text, major)
	}
	round := askedForTokens(t, operator, web, []string{"--server", keys, "--tls-ca", cert})
	request, body := newTokenRequest(t, round)
	_, second := newTokenRequest(t, round)
	id := request.KeyID()
	bearer := "Bearer " + secret
	for name, c := range map[string]struct {
		body    string
		headers []string
		code    int
		says    string
	}{
		"no secret":        {body, nil, 401, "unauthenticated"},
		"another secret":   {body, []string{"Authorization", "Bearer x"}, 401, "unauthenticated"},
		"another scheme":   {body, []string{"Authorization", "Basic " + secret}, 401, "unauthenticated"},
		"two secrets":      {body, []string{"Authorization", bearer, "Authorization", bearer}, 401, "unauthenticated"},
		"another key":      {tokenBody(make([]byte, 32), request.BlindedMessage()), []string{"Authorization", bearer}, 404, "token_key_id"},
		"a short key":      {tokenBody(id[1:], request.BlindedMessage()), []string{"Authorization", bearer}, 400, "token_key_id"},
		"a short message":  {tokenBody(id[:], request.BlindedMessage()[1:]), []string{"Authorization", bearer}, 400, "blinded_message"},
		"a large number":   {tokenBody(id[:], bytes.Repeat([]byte{0xFF}, 256)), []string{"Authorization", bearer}, 400, "blinded_message"},
		"a long message":   {tokenBody(id[:], make([]byte, 40_000)), []string{"Authorization", bearer}, 429, "resource_exhausted"},
		"a long body":      {strings.Repeat(" ", 160<<10), []string{"Authorization", bearer}, 429, "resource_exhausted"},
		"an unknown name":  {`{"token": ""}`, []string{"Authorization", bearer}, 400, "token"},
		"compressed":       {body, []string{"Authorization", bearer, "Content-Encoding", "gzip"}, 501, "must not be compressed"},
		"nothing in it":    {`{}`, []string{"Authorization", bearer}, 400, "token_key_id"},
		"something behind": {body + "x", []string{"Authorization", bearer}, 400, "invalid_argument"},
	} {
		if code, text := answerTo(t, client, http.MethodPost, url, c.body, c.headers...); code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %q, want %d %q", name, code, text, c.code, c.says)
		}
	}
	if code, _ := answerTo(t, client, http.MethodGet, url+"?connect=v1&encoding=json&message={}", "", "Authorization", bearer); code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d, want 405", code)
	}
	for _, method := range []string{"/hushgrad.v1.IssuerOperator/ListKeys", "/grpc.health.v1.Health/Check", getRoundPath} {
		if code, text := answerTo(t, client, http.MethodPost, "https://"+issuerWeb+method, "{}", "Authorization", bearer); code != http.StatusNotFound {
			t.Errorf("%s: %d %s, want 404", method, code, text)
		}
	}
	if resp, err := http.Post("http://"+issuerWeb+issueTokenPath, "application/json", strings.NewReader("{}")); err == nil { // or a closed connection
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest || resp.Header.Get("Content-Type") == "application/json" {
			t.Errorf("without TLS: %d with %s", resp.StatusCode, resp.Header.Get("Content-Type"))
		}
	}
	if text := printed(t, "issue", "keys", "--server", keys, "--tls-ca", cert); !strings.Contains(text, "\nr      0       ") {
		t.Errorf("keys %q after refusals, want no token", text)
	}

	code, text := answerTo(t, client, http.MethodPost, url, body, "Authorization", bearer)
	if code != http.StatusOK {
		t.Fatalf("IssueToken: %d %s", code, text)
	}
	signature := signatureIn(t, text)
	if _, text := answerTo(t, secure(t, &tls.Config{RootCAs: pool}, true), http.MethodPost, url, body, "authorization", "bearer "+secret); !bytes.Equal(signatureIn(t, text), signature) {
		t.Errorf("the same message again: %s", text)
	}
	many := fmt.Sprintf(`{"tokenKeyIds": %q, "blindedMessages": %q}`, base64.StdEncoding.EncodeToString(id[:]), base64.StdEncoding.EncodeToString(request.BlindedMessage()))
	if code, text := answerTo(t, client, http.MethodPost, url+"s", many, "Authorization", bearer); code != http.StatusOK || !strings.Contains(text, base64.StdEncoding.EncodeToString(signature)) {
		t.Errorf("the same message among many: %d %s", code, text)
	}
	if code, text := answerTo(t, client, http.MethodPost, url, second, "Authorization", bearer); code != http.StatusConflict || !strings.Contains(text, "already_exists") {
		t.Errorf("a second token: %d %s", code, text)
	}
	data := writeFile(t, dir, "data.csv", "anna,1,0.5\n")
	if text := refusal(t, "encode", "--server", clients, "--max-epsilon", "5", "--round", "r", "--issuer", issuers, "--issuer-tls-ca", cert, "--bearer-file", writeFile(t, dir, "anna", secret), data); !strings.Contains(text, "AlreadyExists") {
		t.Errorf("a second token over gRPC: %q", text)
	}
	token, err := request.Finalize(signature)
	if err != nil {
		t.Fatal(err)
	}
	submission := submissionOf(t, round, token)
	for _, want := range []string{`{"accepted":"1"}`, `{"duplicates":"1"}`} {
		if code, text := answerTo(t, http.DefaultClient, http.MethodPost, "http://"+web+"/hushgrad.v1.Rounds/SubmitBatch", submission); code != http.StatusOK || strings.ReplaceAll(text, " ", "") != want {
			t.Errorf("SubmitBatch: %d %s, want %s", code, text, want)
		}
	}
	token[len(token)-1] ^= 1
	if code, text := answerTo(t, http.DefaultClient, http.MethodPost, "http://"+web+"/hushgrad.v1.Rounds/SubmitBatch", submissionOf(t, round, token)); code == http.StatusOK || !strings.Contains(text, "tokens") {
		t.Errorf("a token that nobody has signed: %d %s", code, text)
	}
}

// submissionOf is what SubmitBatch takes for one report and its token, in JSON.
func submissionOf(t *testing.T, r fl.Round, token []byte) string {
	t.Helper()
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	m = m.(fl.SeededMechanism).WithSeed(admit.Seed(token))
	report, err := m.Encode(nil, make([]float64, r.Dim), rand.New(rand.NewPCG(1, 1)))
	if err == nil {
		report, err = fl.PackReports(m, nil, report)
	}
	if err != nil {
		t.Fatal(err)
	}
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	message, err := protojson.Marshal(&service.SubmitReportsRequest{RoundId: r.ID, RoundDigest: digest[:], Reports: report, Tokens: token})
	if err != nil {
		t.Fatal(err)
	}
	return string(message)
}

// A page of a named origin may send its secret, and no other page.
func TestOnlyNamedPagesMayAskTheIssuer(t *testing.T) {
	dir, web := t.TempDir(), freeAddress(t)
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	_, pool := selfSigned(t, cert, key)
	runIssue(t, "--tls-cert", cert, "--tls-key", key, "--bearer-file", writeFile(t, dir, "bearers", ""), "--http", web, "--http-origin", "https://example.org")
	client, url := secure(t, &tls.Config{RootCAs: pool}, false), "https://"+web+issueTokenPath
	post(t, client, url) // until it answers
	for origin, want := range map[string]string{"https://example.org": "https://example.org", "https://example.com": ""} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", origin)
		req.Header.Set("Access-Control-Request-Method", http.MethodPost)
		req.Header.Set("Access-Control-Request-Headers", "authorization,connect-protocol-version,content-type")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		allowed := resp.Header.Get("Access-Control-Allow-Headers")
		if got := resp.Header.Get("Access-Control-Allow-Origin"); got != want || strings.Contains(allowed, "authorization") != (want != "") {
			t.Errorf("%s: %q with the headers %q is allowed", origin, got, allowed)
		}
		if got := resp.Header.Get("Access-Control-Allow-Credentials"); got != "" {
			t.Errorf("%s: cookies and certificates are allowed: %q", origin, got)
		}
	}
}

// Where clients are known by certificates the listener for HTTP demands them, too, and a client is the
// subject of its own.
func TestCertificatesAreDemandedOverHTTP(t *testing.T) {
	dir, web, issuerWeb := t.TempDir(), freeAddress(t), freeAddress(t)
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair, pool := selfSigned(t, cert, key) // of the server, of the operator and of a client
	stranger, _ := selfSigned(t, filepath.Join(dir, "other.pem"), filepath.Join(dir, "other-key.pem"))
	clients, operator := parts(t, run(t, "--http", web))
	addresses := runIssue(t, "--tls-cert", cert, "--tls-key", key, "--client-ca", cert, "--operator-ca", cert, "--operator-name", "test", "--http", issuerWeb)
	mine := []string{"--tls-ca", cert, "--tls-cert", cert, "--tls-key", key}
	issuers, keys := addresses[0], addresses[1]
	if complaint(t, append([]string{"issue", "keys", "--server", keys}, mine...)...) != "" {
		issuers, keys = keys, issuers
	}
	url := "https://" + issuerWeb + issueTokenPath
	client := secure(t, &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}, true)
	if code, text, major := post(t, client, url); code != http.StatusBadRequest || !strings.Contains(text, "token_key_id") || major != 2 {
		t.Errorf("a client that asks for nothing: %d %s over HTTP/%d, want a refusal over h2", code, text, major)
	}
	for who, certificates := range map[string][]tls.Certificate{"nobody": nil, "a stranger": {stranger}} {
		for _, h2 := range []bool{false, true} {
			other := secure(t, &tls.Config{RootCAs: pool, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				return firstOf(certificates), nil
			}}, h2)
			if resp, err := other.Post(url, "application/json", strings.NewReader("{}")); err == nil {
				_ = resp.Body.Close()
				t.Errorf("%s, h2 %v: the answer is %d, want no connection", who, h2, resp.StatusCode)
			}
		}
	}
	round := askedForTokens(t, operator, web, append([]string{"--server", keys}, mine...))
	request, body := newTokenRequest(t, round)
	_, second := newTokenRequest(t, round)
	code, text := answerTo(t, client, http.MethodPost, url, body)
	if code != http.StatusOK {
		t.Fatalf("IssueToken: %d %s", code, text)
	}
	if _, err := request.Finalize(signatureIn(t, text)); err != nil {
		t.Error(err)
	}
	if code, text := answerTo(t, secure(t, &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}, false), http.MethodPost, url, second); code != http.StatusConflict {
		t.Errorf("a second token over HTTP/1.1: %d %s", code, text)
	}
	data := writeFile(t, dir, "data.csv", "anna,1,0.5\n")
	if text := refusal(t, "encode", "--server", clients, "--max-epsilon", "5", "--round", "r", "--issuer", issuers, "--issuer-tls-ca", cert, "--issuer-tls-cert", cert, "--issuer-tls-key", key, data); !strings.Contains(text, "AlreadyExists") {
		t.Errorf("a second token over gRPC: %q", text)
	}
}

// firstOf is the first certificate, or an empty one for none.
func firstOf(certificates []tls.Certificate) *tls.Certificate {
	if len(certificates) == 0 {
		return &tls.Certificate{}
	}
	return &certificates[0]
}
