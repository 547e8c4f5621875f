package tlsfile

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// issued is a certificate that signs itself.
type issued struct {
	chain, key []byte // PEM
	pair       tls.Certificate
	pool       *x509.CertPool
}

func issue(t *testing.T, name string) issued {
	t.Helper()
	return issueFor(t, name, time.Hour)
}

func issueFor(t *testing.T, name string, valid time.Duration) issued {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(valid), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	i := issued{
		chain: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:   pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), pool: x509.NewCertPool(),
	}
	i.pool.AppendCertsFromPEM(i.chain)
	if i.pair, err = tls.X509KeyPair(i.chain, i.key); err != nil {
		t.Fatal(err)
	}
	return i
}

// files are the files of a listener.
type files struct{ chain, key, authorities string }

func newFiles(t *testing.T) files {
	dir := t.TempDir()
	return files{filepath.Join(dir, "chain.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "ca.pem")}
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// listen answers with the name of the client's certificate and then echoes.
func listen(t *testing.T, config *tls.Config) string {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func(conn net.Conn) {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}(conn)
		}
	}()
	return l.Addr().String()
}

// echo sends a byte there and back.
func echo(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte{7}); err != nil {
		return err
	}
	b := make([]byte, 1)
	_, err := io.ReadFull(conn, b)
	return err
}

// dial connects as a client that trusts one certificate and shows another.
func dial(address string, trusts issued, shows ...tls.Certificate) (*tls.Conn, error) {
	conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: trusts.pool, ServerName: "localhost",
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if len(shows) == 0 {
				return &tls.Certificate{}, nil
			}
			return &shows[0], nil
		}})
	if err != nil {
		return nil, err
	}
	return conn, echo(conn) // TLS 1.3 refuses a client's certificate only now
}

func TestANewCertificateServesNewConnectionsAndEndsNone(t *testing.T) {
	f, first, second := newFiles(t), issue(t, "first"), issue(t, "second")
	var logged bytes.Buffer
	write(t, f.chain, first.chain)
	write(t, f.key, first.key)
	c, err := LoadCertificate(f.chain, f.key, slog.New(slog.NewTextHandler(&logged, nil)))
	if err != nil {
		t.Fatal(err)
	}
	address := listen(t, c.Config())
	old, err := dial(address, first)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name       string
		chain, key []byte
		served     issued
		warnings   int
	}{
		{"as it was", first.chain, first.key, first, 0},
		{"a chain without its key", second.chain, first.key, first, 1},
		{"a broken chain", []byte("broken"), second.key, first, 2},
		{"both", second.chain, second.key, second, 2},
	} {
		write(t, f.chain, step.chain)
		write(t, f.key, step.key)
		for range 2 { // a warning is given once
			if _, err := dial(address, step.served); err != nil {
				t.Errorf("%s: %v", step.name, err)
			}
		}
		if n := strings.Count(logged.String(), "level=WARN"); n != step.warnings {
			t.Errorf("%s: %d warnings, want %d: %s", step.name, n, step.warnings, logged.String())
		}
		if err := echo(old); err != nil {
			t.Errorf("%s: the old connection: %v", step.name, err)
		}
	}
	if err := errors.Join(os.Remove(f.chain), os.Remove(f.key)); err != nil {
		t.Fatal(err)
	}
	if _, err := dial(address, second); err != nil {
		t.Errorf("without files: %v, want the last certificate", err)
	}
}

func TestAuthoritiesAreFollowedAndNamesChecked(t *testing.T) {
	f, own, good, bad, late := newFiles(t), issue(t, "own"), issue(t, "good"), issue(t, "bad"), issue(t, "good")
	write(t, f.chain, own.chain)
	write(t, f.key, own.key)
	write(t, f.authorities, append(bytes.Clone(good.chain), bad.chain...))
	logger := slog.New(slog.DiscardHandler)
	c, err := LoadCertificate(f.chain, f.key, logger)
	if err != nil {
		t.Fatal(err)
	}
	a, err := LoadAuthorities(f.authorities, logger)
	if err != nil {
		t.Fatal(err)
	}
	address := listen(t, c.MutualConfig(a, func(c *x509.Certificate) error {
		if c.Subject.CommonName != "good" {
			return errors.New("another name")
		}
		return nil
	}))
	check := func(when string, want map[string]bool) {
		t.Helper()
		for name, shows := range map[string][]tls.Certificate{"good": {good.pair}, "bad": {bad.pair}, "late": {late.pair}, "none": nil} {
			if _, err := dial(address, own, shows...); (err == nil) != want[name] {
				t.Errorf("%s, %s: error %v, want accepted: %t", when, name, err, want[name])
			}
		}
	}
	check("at first", map[string]bool{"good": true})
	write(t, f.authorities, []byte("broken"))
	check("broken", map[string]bool{"good": true})
	write(t, f.authorities, late.chain)
	check("replaced", map[string]bool{"late": true})
}

func TestOlderTLSIsRefused(t *testing.T) {
	f, own := newFiles(t), issue(t, "own")
	write(t, f.chain, own.chain)
	write(t, f.key, own.key)
	c, err := LoadCertificate(f.chain, f.key, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	address := listen(t, c.Config())
	for version, ok := range map[uint16]bool{tls.VersionTLS12: false, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: own.pool, ServerName: "localhost", MaxVersion: version})
		if (err == nil) != ok {
			t.Errorf("version %#x: %v", version, err)
		}
		if conn != nil {
			conn.Close()
		}
	}
	for at, ok := range map[time.Duration]bool{-2 * time.Hour: false, 0: true, 2 * time.Hour: false} {
		if err := c.CheckValid(time.Now().Add(at)); (err == nil) != ok {
			t.Errorf("valid in %v: %v, want %t", at, err, ok)
		}
	}
}

// A chain ends with its first certificate that does, whichever it is, and a new file counts at once.
func TestExpires(t *testing.T) {
	f, short, long := newFiles(t), issueFor(t, "short", time.Hour), issueFor(t, "long", 9*time.Hour)
	write(t, f.chain, short.chain)
	write(t, f.key, short.key)
	c, err := LoadCertificate(f.chain, f.key, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range []struct {
		chain, key []byte
		in         time.Duration
	}{
		{short.chain, short.key, time.Hour}, {long.chain, long.key, 9 * time.Hour}, {slices.Concat(long.chain, short.chain), long.key, time.Hour},
	} {
		write(t, f.chain, now.chain)
		write(t, f.key, now.key)
		if left := time.Until(c.Expires()); (left - now.in).Abs() > time.Minute {
			t.Errorf("the chain ends in %v, want %v", left, now.in)
		}
	}
}

func TestFilesThatCannotBeUsedAreErrors(t *testing.T) {
	f, own := newFiles(t), issue(t, "own")
	logger := slog.New(slog.DiscardHandler)
	write(t, f.chain, own.chain)
	write(t, f.key, make([]byte, maxBytes+1))
	if _, err := LoadCertificate(f.chain, f.key, logger); err == nil || !strings.Contains(err.Error(), "must have at most") {
		t.Errorf("a large key: error %v", err)
	}
	if _, err := LoadCertificate(f.chain, f.authorities, logger); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no key: error %v", err)
	}
	write(t, f.authorities, []byte("no certificates here\n"))
	if _, err := LoadAuthorities(f.authorities, logger); err == nil || !strings.Contains(err.Error(), "must hold PEM certificates") {
		t.Errorf("no certificates: error %v", err)
	}
}
