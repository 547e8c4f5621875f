package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/seal"
)

// runRole starts a command that serves and returns its log.
func runRole(t *testing.T, args ...string) *log {
	t.Helper()
	out := &log{}
	ctx, stop := context.WithCancel(context.Background())
	code := make(chan int, 1)
	go func() { code <- call(ctx, args, io.Discard, out) }()
	t.Cleanup(func() {
		stop()
		if c := <-code; c != 0 {
			t.Errorf("%s: exit code %d: %s", args[0], c, out)
		}
	})
	return out
}

// shuffledServer starts hushgrad serve with a listener for the shuffler, and returns the addresses
// of the three listeners and the fingerprint of its key. cert and key are everybody's.
func shuffledServer(t *testing.T, cert, key string) (clients, operator, shuffler, fingerprint string) {
	t.Helper()
	shuffler = freeAddress(t)
	var out log
	others := runLogging(t, &out, "--tls-cert", cert, "--tls-key", key, "--operator-ca", cert, "--operator-name", "test",
		"--shuffler-listen", shuffler, "--shuffler-ca", cert, "--shuffler-name", "test")
	others = slices.DeleteFunc(others, func(address string) bool { return address == shuffler })
	clients, operator = parts(t, others, "--tls-ca", cert, "--tls-cert", cert, "--tls-key", key)
	return clients, operator, shuffler, regexp.MustCompile(`fingerprint=([0-9a-f]{64})`).FindStringSubmatch(out.String())[1]
}

// From the shell: clients who pin a shuffler send sealed reports to it, it forwards them when the
// operator closes the round and there are enough, and nothing is left of them in its files. The
// connection to the server takes a certificate on both ends.
func TestTheThreePartiesOfAReportFromTheShell(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key)
	mutual := []string{"--tls-ca", cert, "--tls-cert", cert, "--tls-key", key}
	clients, operator, listener, fingerprint := shuffledServer(t, cert, key)
	data := filepath.Join(dir, "data")
	out := runRole(t, "shuffle", "--name", "127.0.0.1", "--floor", "3", "--listen", "127.0.0.1:0", "--data", data, "--tls-cert", cert, "--tls-key", key,
		"--upstream", listener, "--upstream-tls-ca", cert, "--upstream-tls-cert", cert, "--upstream-tls-key", key)
	shuffler := out.addresses(t, 1)[0]
	if text := out.String(); !strings.Contains(text, "who takes part") || !strings.Contains(text, "floor=3") {
		t.Errorf("the log does not say what the shuffler sees: %s", text)
	}
	printed(t, append([]string{"round", "--server", operator, "--id", "r", "--dim", "4", "--epsilon", "2", "--min-reports", "2", "--param", "sparsity=2", "--shuffler", "127.0.0.1"}, mutual...)...)
	pairs := writeFile(t, dir, "pairs.csv", "anna,1,0.5\n")
	encode := func(server, seal string) []string {
		return []string{"encode", "--server", server, "--tls-ca", cert, "--round", "r", "--max-epsilon", "2", "--shuffler", "127.0.0.1",
			"--seal-key", seal, "--max-central-epsilon", "2", pairs}
	}
	if text := refusal(t, encode(shuffler, strings.Repeat("0", 64))...); !strings.Contains(text, "refused by the client's policy") {
		t.Errorf("another key: %q", text)
	}
	if text := refusal(t, encode(clients, fingerprint)...); !strings.Contains(text, "FailedPrecondition") {
		t.Errorf("reports to the server itself: %q", text)
	}
	for range 3 {
		if text := printed(t, encode(shuffler, strings.Repeat("0", 64)+","+fingerprint)...); !strings.Contains(text, "by the shuffler 127.0.0.1") {
			t.Errorf("printed %q", text)
		}
	}
	secrets := func() int {
		t.Helper()
		entries, err := filepath.Glob(filepath.Join(data+"-secrets", "*.secret"))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	if n := secrets(); n != 1 {
		t.Errorf("%d secrets of one round", n)
	}
	printed(t, append([]string{"aggregate", "--server", operator, "--round", "r", "--close"}, mutual...)...)
	if text := printed(t, append([]string{"rounds", "list", "--server", operator}, mutual...)...); !strings.Contains(text, "closed") || !strings.Contains(text, " 3 ") {
		t.Errorf("rounds %q", text)
	}
	for end := time.Now().Add(20 * time.Second); secrets() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the secret of the round stays")
		}
	}
	if text := refusal(t, encode(shuffler, fingerprint)...); !strings.Contains(text, "the round must be open") {
		t.Errorf("after the end: %q", text)
	}
}

// From the shell: a round of two servers is opened with the shuffler's key, which the shuffler lists.
func TestARoundOfTwoServersFromTheShell(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key)
	_, operator, listener, _ := shuffledServer(t, cert, key)
	mutual := []string{"--tls-ca", cert, "--tls-cert", cert, "--tls-key", key}
	data := filepath.Join(dir, "data")
	if text := refusal(t, "shuffle", "keys", "--data", data); !strings.Contains(text, "hushgrad shuffle makes the first one") {
		t.Errorf("before there is a key: %q", text)
	}
	out := runRole(t, "shuffle", "--name", "127.0.0.1", "--listen", "127.0.0.1:0", "--data", data, "--tls-cert", cert, "--tls-key", key,
		"--upstream", listener, "--upstream-tls-ca", cert, "--upstream-tls-cert", cert, "--upstream-tls-key", key)
	out.addresses(t, 1)
	var keys []listedKey
	if err := json.Unmarshal([]byte(printed(t, "shuffle", "keys", "--data", data, "--output", "json")), &keys); err != nil || len(keys) != 1 {
		t.Fatalf("%v, %v", keys, err)
	}
	if text := out.String(); !strings.Contains(text, "fingerprint="+keys[0].Fingerprint) || seal.FingerprintOf(keys[0].Public).String() != keys[0].Fingerprint {
		t.Errorf("%+v is not in the log: %s", keys, text)
	}
	open := append([]string{"round", "--server", operator, "--id", "r", "--mechanism", "gaussian-shares", "--dim", "4", "--delta", "1e-6", "--shuffler", "127.0.0.1"}, mutual...)
	if text := refusal(t, open...); !strings.Contains(text, "share_key") || !strings.Contains(text, "hushgrad shuffle keys --output json prints it") {
		t.Errorf("without a key: %q", text)
	}
	if text := refusal(t, append(open, "--share-key", "no base64")...); !strings.Contains(text, "--share-key") {
		t.Errorf("no key: %q", text)
	}
	if text := refusal(t, "round", "--dim", "4", "--share-key", "AAAA"); !strings.Contains(text, "needs --shuffler") {
		t.Errorf("without a shuffler: %q", text)
	}
	if r := roundOf(t, printed(t, append(open, "--share-key", base64.StdEncoding.EncodeToString(keys[0].Public))...)); !slices.Equal(r.ShareKey, keys[0].Public) {
		t.Errorf("the round has the key %x", r.ShareKey)
	}
}

func TestShuffleRefusesFlags(t *testing.T) {
	base := []string{"--name", "s.test", "--upstream", "127.0.0.1:1"}
	if err := parse("shuffle", &shuffleFlags{}, base...); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		param string
		args  []string
	}{
		{"--name", []string{"--upstream", "127.0.0.1:1"}},
		{"--upstream", []string{"--name", "s.test"}},
		{"--upstream", []string{"--name", "s.test", "--upstream", "192.0.2.1:1"}},
		{"--upstream-tls-cert", append(base[:4:4], "--upstream-tls-cert", "c", "--upstream-tls-key", "k")},
		{"--floor", append(base[:4:4], "--floor", "0")},
		{"--max-dim", append(base[:4:4], "--max-dim", "-1")},
		{"--max-rounds", append(base[:4:4], "--max-rounds", "0")},
		{"--max-reports", append(base[:4:4], "--max-reports", "0")},
		{"--forward-bytes", append(base[:4:4], "--forward-bytes", "0")},
		{"--max-model-bytes", append(base[:4:4], "--max-model-bytes", "0")},
		{"--progress-timeout", append(base[:4:4], "--progress-timeout", "0s")},
		{"--seal-suite", append(base[:4:4], "--data", "none", "--seal-suite", "mlkem768-x25519")},
		{"--secrets", append(base[:4:4], "--data", "none", "--secrets", "s")},
		{"--listen", append(base[:4:4], "--listen", ":0")},
		{"--metrics-listen", append(base[:4:4], "--metrics-listen", ":0")},
	} {
		var p *fl.ParamError
		if err := parse("shuffle", &shuffleFlags{}, c.args...); !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%v: %v, want an error for %s", c.args, err, c.param)
		}
	}
	for _, flag := range []string{"--operator-listen", "--operator-ca"} {
		if err := parse("shuffle", &shuffleFlags{}, append(base[:4:4], flag, "x")...); err == nil {
			t.Errorf("%s was accepted by a role without an operator", flag)
		}
	}
}
