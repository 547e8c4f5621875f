package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/ohttp"
)

// tap stands before a party, notes what comes, and passes it on as it is.
type tap struct {
	url  string
	mu   sync.Mutex
	seen []tapped
}

// tapped is a request that a party gets.
type tapped struct {
	from   string
	header http.Header
	path   string
	body   []byte
	owner  int // the process that has sent it
}

// newTap starts a tap before a URL, with TLS on both sides if there is a pair. candidates are the processes that may call.
func newTap(t *testing.T, to string, pair *tls.Certificate, pool *x509.CertPool, candidates func() []int) *tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	out := &tap{url: "http://" + l.Addr().String()}
	if pair != nil {
		out.url = "https://" + l.Addr().String()
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*pair}})
	}
	through := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		out.mu.Lock()
		out.seen = append(out.seen, tapped{r.RemoteAddr, r.Header.Clone(), r.URL.Path, body, ownerOf(r.RemoteAddr, candidates())})
		out.mu.Unlock()
		on, err := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.Path, bytes.NewReader(body))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		on.Header = r.Header
		resp, err := through.RoundTrip(on)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		maps.Copy(w.Header(), resp.Header)
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); through.CloseIdleConnections() })
	return out
}

// ownerOf returns which of these processes has a connection from a local address, 0 for none of them.
func ownerOf(address string, candidates []int) int {
	_, port, _ := net.SplitHostPort(address)
	n, _ := strconv.Atoi(port)
	table, _ := os.ReadFile("/proc/net/tcp")
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) < 10 || !strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", n)) {
			continue
		}
		for _, pid := range candidates {
			files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
			for _, file := range files {
				if to, err := os.Readlink(file); err == nil && to == "socket:["+fields[9]+"]" {
					return pid
				}
			}
		}
	}
	return 0
}

// answers waits until a process that has just been started listens.
func answers(t *testing.T, addresses ...string) {
	t.Helper()
	for _, address := range addresses {
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			conn, err := net.Dial("tcp", address)
			if err == nil {
				_ = conn.Close()
				break
			}
			if time.Now().After(end) {
				t.Fatal(err)
			}
		}
	}
}

// gatewayKey makes the key of a gateway, and returns its file and its configuration.
func gatewayKey(t *testing.T, dir, name string) (file, config string) {
	t.Helper()
	file = filepath.Join(dir, name)
	return file, strings.TrimSpace(printed(t, "relay", "key", "--out", file))
}

// Server, shuffler, issuer, a relay before the shuffler, a relay before the issuer, and clients, each a process: the relays carry messages of one length
// that say nothing of the round or the client, and shuffler and issuer are called by the relays alone, without a word about
// who has called those. An estimate comes out.
func TestClientsBehindRelays(t *testing.T) {
	if _, err := os.Stat("/proc/net/tcp"); err != nil {
		t.Skip("the owner of a connection cannot be found")
	}
	const id, name = "the-round-of-this-test", "shuffler.test"
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair, pool := selfSigned(t, cert, key)
	t.Setenv("SSL_CERT_FILE", cert) // of all processes
	var at [9]string
	for i := range at {
		at[i] = freeAddress(t)
	}
	clients, operator, upstream, shuffled, shuffledHTTP, issuers, keys, issuersHTTP, relayed := at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8]
	people := []string{"anna", "bert", "carl", "dora"}
	var secrets, bearers []string
	for _, who := range people {
		lines := strings.Split(printed(t, "issue", "bearer", who), "\n")
		secrets, bearers = append(secrets, lines[0]), append(bearers, lines[1])
	}
	shufflerKey, shufflerConfig := gatewayKey(t, dir, "shuffler.key")
	issuerKey, issuerConfig := gatewayKey(t, dir, "issuer.key")
	data := filepath.Join(dir, "server")
	startCommand(t, "serve", "--data", data, "--listen", clients, "--operator-listen", operator, "--shuffler-listen", upstream)
	startCommand(t, "issue", "--listen", issuers, "--operator-listen", keys, "--tls-cert", cert, "--tls-key", key, "--http", issuersHTTP, "--ohttp-key", issuerKey,
		"--bearer-file", writeFile(t, dir, "bearers", strings.Join(bearers, "\n")))
	startCommand(t, "shuffle", "--listen", shuffled, "--name", name, "--floor", "3", "--upstream", upstream, "--http", shuffledHTTP, "--ohttp-key", shufflerKey)
	answers(t, operator, upstream, shuffledHTTP, issuersHTTP, keys)

	var relays []int
	var mu sync.Mutex
	known := func() []int { mu.Lock(); defer mu.Unlock(); return slices.Clone(relays) }
	carry := func(gateway, listen string, args ...string) {
		command := startCommand(t, append([]string{relayRole, "--gateway", gateway, "--listen", listen}, args...)...)
		mu.Lock()
		relays = append(relays, command.Process.Pid)
		mu.Unlock()
		answers(t, listen)
	}
	atShuffler, atIssuer := newTap(t, "http://"+shuffledHTTP, nil, nil, known), newTap(t, "https://"+issuersHTTP, &pair, pool, known)
	carry(atShuffler.url, relayed)
	issuerRelay := freeAddress(t)
	carry(atIssuer.url, issuerRelay, "--tls-cert", cert, "--tls-key", key)
	atRelay, atIssuerRelay := newTap(t, "http://"+relayed, nil, nil, known), newTap(t, "https://"+issuerRelay, &pair, pool, known)

	var sealKeys []listedKey
	if err := json.Unmarshal([]byte(printed(t, "serve", "keys", "--data", data, "--output", "json")), &sealKeys); err != nil || len(sealKeys) != 1 {
		t.Fatalf("%v, %v", sealKeys, err)
	}
	pem := writeFile(t, dir, "round.pem", printed(t, "issue", "key", "--id", id, "--server", keys, "--tls-ca", cert))
	printed(t, "round", "--server", operator, "--id", id, "--shuffler", name, "--issuer-key", pem, "--mechanism", "collision", "--dim", "3", "--epsilon", "4", "--min-reports", "3", "--param", "sparsity=2")
	for i, who := range people {
		encode := exec.Command(os.Args[0], "encode", "--relay", atRelay.url, "--relay-key", shufflerConfig, "--round", id, "--max-epsilon", "4", "--max-central-epsilon", "4",
			"--shuffler", name, "--seal-key", sealKeys[0].Fingerprint, "--issuer-relay", atIssuerRelay.url, "--issuer-relay-key", issuerConfig,
			"--bearer-file", writeFile(t, dir, who+".secret", secrets[i]), writeFile(t, dir, who+".csv", who+",1,0.5\n"))
		encode.Env = append(os.Environ(), asCommand+"=1")
		if out, err := encode.CombinedOutput(); err != nil || !strings.Contains(string(out), "by the shuffler "+name) {
			t.Fatalf("%s: %v: %s", who, err, out)
		}
	}
	if text := printed(t, "aggregate", "--server", operator, "--round", id, "--close"); !strings.Contains(text, "\n1,") {
		t.Errorf("the estimate: %s", text)
	}
	if text := printed(t, "rounds", "list", "--server", operator); !strings.Contains(text, "closed") || !strings.Contains(text, fmt.Sprintf(" %d ", len(people))) {
		t.Errorf("rounds: %s", text)
	}

	words := append(slices.Clone(secrets), id, name, "hushgrad", "GetRound", "SubmitBatch", "IssueToken")
	var addresses []string
	for _, one := range slices.Concat(atRelay.seen, atIssuerRelay.seen) {
		addresses = append(addresses, one.from)
	}
	length := 0
	for gateway, want := range map[*tap]int{atShuffler: 2 * len(people), atIssuer: len(people)} {
		if len(gateway.seen) != want {
			t.Errorf("a gateway has seen %d messages, want %d", len(gateway.seen), want)
		}
		for _, one := range gateway.seen {
			length = len(one.body)
			one.onlySealed(t, "a gateway", addresses)
			if one.path != ohttp.GatewayPath || !slices.Contains(known(), one.owner) {
				t.Errorf("%s was called from %s by process %d, which is no relay of %v", one.path, one.from, one.owner, known())
			}
		}
	}
	for relay, want := range map[*tap]int{atRelay: 2 * len(people), atIssuerRelay: len(people)} {
		if len(relay.seen) != want {
			t.Errorf("a relay has seen %d messages, want %d", len(relay.seen), want)
		}
		for _, one := range relay.seen {
			one.onlySealed(t, "a relay", words)
			if len(one.body) != length {
				t.Errorf("a relay has seen messages of %d and %d bytes", len(one.body), length)
			}
		}
	}
}

// onlySealed complains about a request that has more than a message, or one in which these words can be read.
func (s tapped) onlySealed(t *testing.T, who string, words []string) {
	t.Helper()
	for header, values := range s.header {
		if !slices.Contains([]string{"Content-Type", "Content-Length"}, header) || header == "Content-Type" && values[0] != ohttp.RequestType {
			t.Errorf("%s sees %s: %s", who, header, values)
		}
	}
	for _, word := range words {
		if bytes.Contains(s.body, []byte(word)) || strings.Contains(s.path, word) {
			t.Errorf("%s can read %q", who, word)
		}
	}
}

func TestRelayRefusesFlags(t *testing.T) {
	gateway := []string{"--gateway", "https://shuffler.example:7125"}
	if err := parse("relay", &relayFlags{}, gateway...); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		param string
		args  []string
	}{
		{"--gateway", nil},
		{"--gateway", []string{"--gateway", "http://shuffler.example"}},
		{"--listen", append(gateway[:2:2], "--listen", ":0")},
		{"--metrics-listen", append(gateway[:2:2], "--metrics-listen", ":0")},
		{"--max-message-bytes", append(gateway[:2:2], "--max-message-bytes", "5")},
		{"--max-in-flight-bytes", append(gateway[:2:2], "--max-in-flight-bytes", "5")},
		{"--max-connections", append(gateway[:2:2], "--max-connections", "0")},
		{"--max-per-second", append(gateway[:2:2], "--max-per-second", "0")},
		{"--timeout", append(gateway[:2:2], "--timeout", "0s")},
		{"--shutdown-timeout", append(gateway[:2:2], "--shutdown-timeout", "0s")},
	} {
		var p *fl.ParamError
		if err := parse("relay", &relayFlags{}, c.args...); !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%v: %v, want an error for %s", c.args, err, c.param)
		}
	}
}

// Wrong calls with a relay say what to type, and nothing is sent past it.
func TestEncodeRefusesFlagsOfRelays(t *testing.T) {
	dir := t.TempDir()
	file, config := gatewayKey(t, dir, "gateway.key")
	good := []string{"encode", "--max-epsilon", "1", "--relay", "https://relay.example", "--relay-key", config, "absent.csv"}
	for name, c := range map[string]struct {
		says string
		args []string
	}{
		"no URL":              {"--relay: got", append(slices.Clone(good), "--relay", "relay.example")},
		"no TLS":              {"--relay: got", append(slices.Clone(good), "--relay", "http://relay.example")},
		"no key":              {"--relay-key: got", append(slices.Clone(good), "--relay-key", "")},
		"a private key":       {"--relay-key: got", append(slices.Clone(good), "--relay-key", file)},
		"the server, too":     {"must not be given with --server", append(slices.Clone(good), "--server", "127.0.0.1:1")},
		"the issuer directly": {"give --issuer-relay", append(slices.Clone(good), "--issuer", "127.0.0.1:1")},
		"a key alone":         {"needs --issuer-relay", append(slices.Clone(good), "--issuer-relay-key", config)},
		"an output":           {"--out", append(slices.Clone(good), "--out", "x")},
		"a round in a file":   {"without --server or --relay", []string{"encode", "--round", "r.json", "--relay-key", config, "absent.csv"}},
		"a key that is there": {"must be a new file", []string{"relay", "key", "--out", file}},
		"a key without HTTP":  {"needs --http", []string{"serve", "--ohttp-key", file}},
		"a key that is none":  {"--ohttp-key: got", []string{"serve", "--data", "none", "--http", "127.0.0.1:0", "--ohttp-key", writeFile(t, dir, "bad", "x y")}},
		"certificates":        {"needs --bearer-file", []string{"issue", "--client-ca", "c", "--tls-cert", "c", "--tls-key", "k", "--http", "127.0.0.1:0", "--ohttp-key", file}},
	} {
		if text := refusal(t, c.args...); !strings.Contains(text, c.says) {
			t.Errorf("%s: %q, want %q", name, text, c.says)
		}
	}
}
