package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// post sends JSON to a method, until the listener answers, and returns the status, the body and the
// version of HTTP.
func post(t *testing.T, client *http.Client, url string) (code int, text string, major int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		resp, err := client.Post(url, "application/json", strings.NewReader("{}"))
		if err != nil {
			if time.Now().After(end) {
				t.Fatal(err)
			}
			continue
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body), resp.ProtoMajor
	}
}

const getRoundPath = "/hushgrad.v1.Rounds/GetRound"

func TestServeAnswersClientsOverHTTP(t *testing.T) {
	at := freeAddress(t)
	addresses := run(t, "--http", at, "--http-origin", "https://example.org")
	parts(t, addresses) // opens a round
	if code, text, _ := post(t, http.DefaultClient, "http://"+at+getRoundPath); code != http.StatusOK || !strings.Contains(text, `"ROUND_STATE_OPEN"`) {
		t.Errorf("GetRound: %d %s", code, text)
	}
	if code, text, _ := post(t, http.DefaultClient, "http://"+at+"/hushgrad.v1.Operator/ListRounds"); code != http.StatusNotFound {
		t.Errorf("ListRounds: %d %s", code, text)
	}
}

// With a certificate the listeners for HTTP have TLS and h2, on the server and on the shuffler, which
// passes on the round.
func TestHTTPHasTheCertificateOfTheOtherListeners(t *testing.T) {
	dir, web, relayed := t.TempDir(), freeAddress(t), freeAddress(t)
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	_, pool := selfSigned(t, cert, key)
	listener := freeAddress(t)
	runLogging(t, &log{}, "--tls-cert", cert, "--tls-key", key, "--shuffler-listen", listener, "--shuffler-ca", cert, "--shuffler-name", "test", "--http", web)
	runRole(t, "shuffle", "--name", "127.0.0.1", "--listen", "127.0.0.1:0", "--data", noData, "--tls-cert", cert, "--tls-key", key,
		"--upstream", listener, "--upstream-tls-ca", cert, "--upstream-tls-cert", cert, "--upstream-tls-key", key, "--http", relayed)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	for _, url := range []string{"https://" + web, "https://" + relayed} {
		if code, text, major := post(t, client, url+getRoundPath); code != http.StatusNotFound || !strings.Contains(text, "not_found") || major != 2 {
			t.Errorf("%s: GetRound over HTTP/%d: %d %s, want that there is no round, over h2", url, major, code, text)
		}
	}
}
