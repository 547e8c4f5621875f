package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/client"
)

// call runs a command line and returns its exit code.
func call(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return command.Run(ctx, "hushgrad", dispatch, args, command.Streams{In: os.Stdin, Out: stdout, Err: stderr})
}

// parse reads flags as the command of that name does, and checks them.
func parse(name string, flags job, args ...string) error {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.bind(f)
	command.Configurable(f)
	if err := command.ParseOnly(f, args); err != nil {
		return err
	}
	if err := command.Configure("hushgrad "+name, f); err != nil {
		return err
	}
	return flags.validate(f)
}

func TestDispatch(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	taken := other.Addr().String()
	for name, c := range map[string]struct {
		args   []string
		code   int
		stdout string
		stderr string
	}{
		"nothing":         {nil, 2, "", "  serve       run"},
		"help":            {[]string{"--help"}, 0, "  serve       run", ""},
		"version":         {[]string{"version"}, 0, "hushgrad ", ""},
		"unknown":         {[]string{"srve"}, 2, "", `command: got "srve", rule: must be one of demo, new, certify, serve`},
		"serve help":      {[]string{"serve", "--help"}, 0, "--operator-listen", ""},
		"verify help":     {[]string{"verify", "--help"}, 0, "--confidence", ""},
		"verify nothing":  {[]string{"verify"}, 2, "", "arguments: got 0"},
		"verify a ghost":  {[]string{"verify", "absent.json"}, 2, "", `file: got "absent.json"`},
		"unknown flag":    {[]string{"serve", "--port", "1"}, 2, "", "--port"},
		"argument":        {[]string{"serve", "now"}, 2, "", `arguments: got "now"`},
		"half of TLS":     {[]string{"serve", "--tls-cert", "c.pem"}, 2, "", "must be given together"},
		"TLS key alone":   {[]string{"serve", "--tls-key", "k.pem"}, 2, "", "must be given together"},
		"open clients":    {[]string{"serve", "--listen", "0.0.0.0:0"}, 2, "", `--listen: got "0.0.0.0:0", rule: must be a loopback address, or --tls-cert and --tls-key, or --insecure`},
		"open to all":     {[]string{"serve", "--insecure", "--operator-listen", ":0"}, 2, "", "--operator-listen: got"},
		"TLS or none":     {[]string{"serve", "--insecure", "--tls-cert", "c", "--tls-key", "k"}, 2, "", "--insecure: got true"},
		"any operator":    {[]string{"serve", "--tls-cert", "c", "--tls-key", "k", "--operator-ca", "a"}, 2, "", `--operator-name: got "", rule: is required with --operator-ca`},
		"name without CA": {[]string{"serve", "--operator-name", "a"}, 2, "", "needs --operator-ca"},
		"half a pattern":  {[]string{"serve", "--tls-cert", "c", "--tls-key", "k", "--operator-ca", "a", "--operator-name", "a,*.b"}, 2, "", "must be whole names"},
		"an empty name":   {[]string{"serve", "--tls-cert", "c", "--tls-key", "k", "--operator-ca", "a", "--operator-name", "a,"}, 2, "", "must be whole names"},
		"CA without TLS":  {[]string{"serve", "--operator-ca", "ca.pem"}, 2, "", "needs --tls-cert"},
		"open operator":   {[]string{"serve", "--operator-listen", "0.0.0.0:0"}, 2, "", "must be a loopback address"},
		"operator's name": {[]string{"serve", "--operator-listen", "example.com:1"}, 2, "", "must be a loopback address"},
		"operator's port": {[]string{"serve", "--operator-listen", "127.0.0.1"}, 2, "", "must be host:port: type 127.0.0.1:PORT"},
		"log format":      {[]string{"serve", "--log-format", "xml"}, 2, "", "must be one of text, json"},
		"message limit":   {[]string{"serve", "--max-message-bytes", "5"}, 2, "", "hushgrad serve: --max-message-bytes: got 5, rule: "},
		"no port":         {[]string{"serve", "--listen", "127.0.0.1:99999"}, 2, "", "--listen"},
		"address in use":  {[]string{"serve", "--data", "none", "--operator-listen", "127.0.0.1:0", "--listen", taken}, 1, "", fmt.Sprintf("--listen: got %q, rule: must be an address of this machine that is free: ", taken)},
		"missing TLS key": {[]string{"serve", "--tls-cert", "absent.pem", "--tls-key", "absent.pem"}, 1, "", "--tls-cert"},
	} {
		var stdout, stderr bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // for a call that serves and should not
		if code := call(ctx, c.args, &stdout, &stderr); code != c.code {
			t.Errorf("%s: exit code %d, want %d (%s)", name, code, c.code, stderr.String())
		}
		if !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("%s: stdout %q, stderr %q", name, stdout.String(), stderr.String())
		}
		cancel()
	}
}

// log collects what the server logs, and finds the addresses in it.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var serving = regexp.MustCompile(`msg=serving address=(\S+)`)

// addresses waits until n listeners serve.
func (l *log) addresses(t *testing.T, n int) (addresses []string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		found := serving.FindAllStringSubmatch(l.String(), -1)
		if len(found) == n {
			for _, f := range found {
				addresses = append(addresses, f[1])
			}
			return addresses
		}
	}
	t.Fatal("the server did not start")
	return nil
}

// waitFor waits until the log says something.
func (l *log) waitFor(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !strings.Contains(l.String(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the log does not say %q: %s", text, l)
		}
	}
}

// monitor waits until the process is watched, and returns the address of --metrics-listen.
func (l *log) monitor(t *testing.T) string {
	t.Helper()
	l.waitFor(t, "msg=monitoring")
	return regexp.MustCompile(`msg=monitoring address=(\S+)`).FindStringSubmatch(l.String())[1]
}

// run starts hushgrad serve and returns the addresses it answers on, in either
// order.
func run(t *testing.T, args ...string) []string {
	t.Helper()
	return runLogging(t, &log{}, args...)
}

// runLogging is run with the server's log in out. The state is in memory, as long as nobody says
// otherwise: on a disk it begins with a file of 64 MiB. A server with a shuffler has keys to keep all the same.
func runLogging(t *testing.T, out *log, args ...string) []string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	code := make(chan int, 1)
	shuffled := slices.Contains(args, "--shuffler-listen")
	usual := []string{"serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0"}
	if !slices.Contains(args, "--data") {
		usual = append(usual, "--data", noData)
		if shuffled {
			usual = append(usual, "--seal-keys", filepath.Join(t.TempDir(), "keys"))
		}
	}
	args = append(usual, args...)
	go func() { code <- call(ctx, args, io.Discard, out) }()
	t.Cleanup(func() {
		stop()
		if c := <-code; c != 0 {
			t.Errorf("exit code %d: %s", c, out.text.String())
		}
	})
	if shuffled {
		return out.addresses(t, 3)
	}
	return out.addresses(t, 2)
}

func openOn(t *testing.T, address string, creds credentials.TransportCredentials) error {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = client.NewOperator(conn).OpenRound(ctx, fl.Round{
		ID: "r", Mechanism: "collision", Dim: 10, Scale: 1, Epsilon: 1, MinReports: 2,
		Params: fl.Params{"sparsity": fl.Int(2)},
	})
	return err
}

func TestServeKeepsTheOperatorApart(t *testing.T) {
	worked := 0
	for _, address := range run(t) {
		if openOn(t, address, insecure.NewCredentials()) == nil {
			worked++
		}
	}
	if worked != 1 {
		t.Errorf("a round could be opened on %d of 2 listeners, want 1", worked)
	}
}

func TestServeWithTLSAsksTheOperatorForACertificate(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair, pool := selfSigned(t, certFile, keyFile)
	withCert := credentials.NewTLS(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13})
	without := credentials.NewTLS(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13})
	worked := 0
	for _, address := range run(t, "--tls-cert", certFile, "--tls-key", keyFile, "--operator-ca", certFile, "--operator-name", "test") {
		if openOn(t, address, without) == nil || openOn(t, address, insecure.NewCredentials()) == nil {
			t.Errorf("%s: a round was opened without a certificate", address)
		}
		if openOn(t, address, withCert) == nil {
			worked++
		}
	}
	if worked != 1 {
		t.Errorf("the operator's certificate opened a round on %d of 2 listeners, want 1", worked)
	}
}

// A server that starts with a certificate that has ended says so: its callers see no more than a failed handshake.
func TestAnExpiredCertificateIsLogged(t *testing.T) {
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	selfSignedUntil(t, cert, key, time.Now().Add(-time.Minute))
	var out log
	runLogging(t, &out, "--tls-cert", cert, "--tls-key", key)
	out.waitFor(t, cert+" has expired at")
}

// selfSigned writes a certificate for 127.0.0.1 that signs itself.
func selfSigned(t *testing.T, certFile, keyFile string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	return selfSignedUntil(t, certFile, keyFile, time.Now().Add(time.Hour))
}

// selfSignedUntil is selfSigned for a certificate that ends at a time.
func selfSignedUntil(t *testing.T, certFile, keyFile string, end time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: end,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	for file, data := range map[string][]byte{certFile: certPEM, keyFile: keyPEM} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return pair, pool
}
