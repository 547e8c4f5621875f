package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// runIssue starts hushgrad issue and returns the addresses it answers on, in either order.
func runIssue(t *testing.T, args ...string) []string {
	t.Helper()
	var out log
	ctx, stop := context.WithCancel(context.Background())
	code := make(chan int, 1)
	args = append([]string{"issue", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--data", noData}, args...)
	go func() { code <- call(ctx, args, io.Discard, &out) }()
	t.Cleanup(func() {
		stop()
		if c := <-code; c != 0 {
			t.Errorf("exit code %d: %s", c, out.text.String())
		}
	})
	return out.addresses(t, 2)
}

// printed runs a command line that must work and returns what it prints.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := call(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, stderr.String())
	}
	return stdout.String()
}

// refusal runs a command line that must not work and returns what it prints about that.
func refusal(t *testing.T, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	if code := call(t.Context(), args, io.Discard, &stderr); code == 0 {
		t.Errorf("%v worked", args)
	}
	return stderr.String()
}

// From the shell: a round with a key of the issuer counts one report of each client that the
// issuer knows, and none without a token.
func TestARoundWithTokensFromTheShell(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key)
	clients, operator := parts(t, run(t))

	var secrets, lines []string
	for _, name := range []string{"anna", "bert"} {
		text := strings.Split(printed(t, "issue", "bearer", name), "\n")
		secrets, lines = append(secrets, writeFile(t, dir, name, text[0]+"\n")), append(lines, text[1])
	}
	stranger := writeFile(t, dir, "carl", strings.Split(printed(t, "issue", "bearer", "carl"), "\n")[0])
	bearers := writeFile(t, dir, "bearers", strings.Join(lines, "\n")+"\n")
	addresses := runIssue(t, "--tls-cert", cert, "--tls-key", key, "--bearer-file", bearers)
	issuers, keys := addresses[0], addresses[1]
	if complaint(t, "issue", "keys", "--server", keys, "--tls-ca", cert) != "" {
		issuers, keys = keys, issuers
	}
	if text := complaint(t, "issue", "keys", "--server", issuers, "--tls-ca", cert); !strings.Contains(text, "must be its listener for hushgrad.v1.IssuerOperator") {
		t.Errorf("the clients' listener offers the operator's service: %q", text)
	}

	pem := printed(t, "issue", "key", "--server", keys, "--tls-ca", cert, "--id", "r")
	if again := printed(t, "issue", "key", "--server", keys, "--tls-ca", cert, "--id", "r"); again != pem {
		t.Error("the same call prints another key")
	}
	printed(t, "round", "--server", operator, "--id", "r", "--dim", "4", "--epsilon", "5", "--min-reports", "2", "--param", "sparsity=2", "--issuer-key", writeFile(t, dir, "r.pem", pem))

	encode := func(data string, flags ...string) []string {
		return append(append([]string{"encode", "--server", clients, "--max-epsilon", "5", "--round", "r"}, flags...), data)
	}
	as := func(secret string) []string {
		return []string{"--issuer", issuers, "--issuer-tls-ca", cert, "--bearer-file", secret}
	}
	one, two := writeFile(t, dir, "one.csv", "anna,1,0.5\n"), writeFile(t, dir, "two.csv", "anna,1,0.5\nbert,2,-1\n")
	for what, c := range map[string]struct {
		args []string
		says string
	}{
		"without an issuer": {encode(one), "the round asks for tokens"},
		"as a stranger":     {encode(one, as(stranger)...), "the caller is no client of this issuer"},
		"for two clients":   {encode(two, as(secrets[0])...), "clients: got 2, rule: must be one"},
	} {
		if text := refusal(t, c.args...); !strings.Contains(text, c.says) {
			t.Errorf("%s: %q, want %q", what, text, c.says)
		}
	}
	for _, secret := range secrets {
		if text := printed(t, encode(one, as(secret)...)...); !strings.Contains(text, "1 report under") {
			t.Errorf("printed %q", text)
		}
		if text := refusal(t, encode(one, as(secret)...)...); !strings.Contains(text, "AlreadyExists") {
			t.Errorf("a second report: %q", text)
		}
	}
	if text := printed(t, "issue", "keys", "--server", keys, "--tls-ca", cert); !strings.Contains(text, "\nr      2       ") {
		t.Errorf("keys %q", text)
	}
	printed(t, "aggregate", "--server", operator, "--round", "r", "--close")
	printed(t, "issue", "drop", "--server", keys, "--tls-ca", cert, "--id", "r")
	if text := printed(t, "issue", "keys", "--server", keys, "--tls-ca", cert); strings.Count(text, "\n") != 1 {
		t.Errorf("keys %q after the only one was dropped", text)
	}

	// A round with a shuffler that sends nothing: who waits is told for what, and what goes on after an interrupt.
	operator = freeAddress(t)
	run(t, "--operator-listen", operator, "--shuffler-listen", "127.0.0.1:0")
	printed(t, "round", "--server", operator, "--id", "s", "--shuffler", "shuffler.example", "--dim", "4", "--epsilon", "5", "--min-reports", "7", "--param", "sparsity=2",
		"--issuer-key", writeFile(t, dir, "s.pem", printed(t, "issue", "key", "--server", keys, "--tls-ca", cert, "--id", "s")))
	ctx, interrupt := context.WithCancel(t.Context())
	var said log
	ended := make(chan int, 1)
	go func() {
		ended <- call(ctx, []string{"aggregate", "--server", operator, "--round", "s", "--close"}, io.Discard, &said)
	}()
	said.waitFor(t, `waiting for the shuffler shuffler.example to forward the reports of round "s". It does so once it holds 7 reports`)
	interrupt()
	if code := <-ended; code != 130 || !strings.Contains(said.String(), "note: the server goes on closing round \"s\"") || !strings.Contains(said.String(), "\nhushgrad aggregate: interrupted\n") {
		t.Errorf("exit code %d: %s", code, said.String())
	}
}

// From the shell: a client fetches the tokens of two rounds in one run, and reports in the second round when the issuer is gone.
func TestTokensAreFetchedAheadFromTheShell(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key)
	clients, operator := parts(t, run(t))
	text := strings.Split(printed(t, "issue", "bearer", "anna"), "\n")
	secret := writeFile(t, dir, "anna", text[0]+"\n")
	addresses := runIssue(t, "--tls-cert", cert, "--tls-key", key, "--bearer-file", writeFile(t, dir, "bearers", text[1]+"\n"))
	issuers, keys := addresses[0], addresses[1]
	if complaint(t, "issue", "keys", "--server", keys, "--tls-ca", cert) != "" {
		issuers, keys = keys, issuers
	}
	for _, id := range []string{"r1", "r2"} {
		pem := printed(t, "issue", "key", "--server", keys, "--tls-ca", cert, "--id", id)
		printed(t, "round", "--server", operator, "--id", id, "--dim", "4", "--epsilon", "1", "--min-reports", "1", "--param", "sparsity=2", "--issuer-key", writeFile(t, dir, id+".pem", pem))
	}
	kept, data := filepath.Join(dir, "ledger"), writeFile(t, dir, "one.csv", "anna,1,0.5\n")
	encode := []string{"encode", "--server", clients, "--max-epsilon", "5", "--ledger", kept, "--issuer-tls-ca", cert, "--bearer-file", secret}
	first := printed(t, append(encode, "--budget", "3", "--issuer", issuers, "--round", "r1", "--ahead", "r2", data)...)
	if !strings.Contains(first, "counted in round r1") || !strings.Contains(first, kept+" has the tokens of r2") {
		t.Errorf("printed %q", first)
	}
	for _, id := range []string{"r1", "r2"} {
		printed(t, "issue", "drop", "--server", keys, "--tls-ca", cert, "--id", id)
	}
	if text := refusal(t, append(encode, "--issuer", issuers, "--round", "r2", "--ahead", "r3", data)...); !strings.Contains(text, "--ahead: round r3:") {
		t.Errorf("a round that there is not: %q", text)
	}
	if text := printed(t, append(encode, "--issuer", issuers, "--round", "r2", data)...); !strings.Contains(text, "counted in round r2") {
		t.Errorf("printed %q", text)
	}
}

// complaint runs a command line that may work and returns what it prints about that.
func complaint(t *testing.T, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	call(t.Context(), args, io.Discard, &stderr)
	return stderr.String()
}

func TestIssueWithCertificates(t *testing.T) {
	if !*long {
		t.Skip("waits for RSA keys; TestCertificatesAreDemandedOverHTTP has certificates, too")
	}
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key) // of the server, of the operator and of a client
	clients, operator := parts(t, run(t))
	tls := []string{"--tls-ca", cert, "--tls-cert", cert, "--tls-key", key}
	addresses := runIssue(t, "--tls-cert", cert, "--tls-key", key, "--client-ca", cert, "--operator-ca", cert, "--operator-name", "test")
	issuers, keys := addresses[0], addresses[1]
	if complaint(t, append([]string{"issue", "keys", "--server", keys}, tls...)...) != "" {
		issuers, keys = keys, issuers
	}
	if text := refusal(t, "issue", "keys", "--server", keys, "--tls-ca", cert); !strings.Contains(text, ": --tls-cert and --tls-key: got \"\", rule: are required") {
		t.Errorf("an operator without a certificate: %q", text)
	}
	pem := printed(t, append([]string{"issue", "key", "--server", keys, "--id", "r", "--life", "1h"}, tls...)...)
	printed(t, "round", "--server", operator, "--id", "r", "--dim", "4", "--epsilon", "5", "--min-reports", "1", "--param", "sparsity=2", "--issuer-key", writeFile(t, dir, "r.pem", pem))
	encode := []string{"encode", "--server", clients, "--max-epsilon", "5", "--issuer", issuers, "--issuer-tls-ca", cert}
	data := writeFile(t, dir, "data.csv", "anna,1,0.5\n")
	if text := refusal(t, append(encode, data)...); !strings.Contains(text, ": --issuer-tls-cert and --issuer-tls-key: got \"\", rule: are required") {
		t.Errorf("a client without a certificate: %q", text)
	}
	printed(t, append(encode, "--issuer-tls-cert", cert, "--issuer-tls-key", key, data)...)
}

func TestIssuerKeysAreReadFromPEM(t *testing.T) {
	dir := t.TempDir()
	block := "-----BEGIN PUBLIC KEY-----\nAQID\n-----END PUBLIC KEY-----\n"
	both := block + strings.Replace(block, "AQID", "BAUG", 1)
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"both": {both, true}, "one": {block, false}, "three": {both + block, false}, "none": {"", false},
		"a private one": {block + strings.ReplaceAll(block, "PUBLIC", "PRIVATE"), false}, "large": {both + strings.Repeat("\n", 20<<10), false},
	} {
		inner, outer, err := readIssuerKeys(writeFile(t, dir, "key.pem", c.text))
		if (err == nil) != c.ok || c.ok && (string(inner) != "\x01\x02\x03" || string(outer) != "\x04\x05\x06") {
			t.Errorf("%s: %x, %x, %v", name, inner, outer, err)
		}
	}
	var p *fl.ParamError
	if _, _, err := readIssuerKeys(filepath.Join(dir, "absent")); !errors.As(err, &p) || p.Param != "--issuer-key" {
		t.Errorf("no file: %v", err)
	}
}
