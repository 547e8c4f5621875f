package broker_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hushgrad/hushgrad/cmd/hushgrad-broker/broker"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// certificate writes a certificate for this machine that signs itself, and returns its files.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	public, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: public}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func writeConfig(t *testing.T, dir, text string) string {
	t.Helper()
	file := filepath.Join(dir, "nats.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A broker that asks others for certificates serves its own process, and refuses others without one.
func TestABrokerWithTLSServesItsOwnProcess(t *testing.T) {
	dir := t.TempDir()
	cert, key := certificate(t, dir)
	file := writeConfig(t, dir, fmt.Sprintf("listen: \"127.0.0.1:-1\"\njetstream { store_dir: %q, sync_interval: always }\n"+
		"tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\n", dir, cert, key, cert))
	b, err := broker.Start(broker.Config{File: file, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	own, err := b.Connect()
	if err != nil {
		t.Fatalf("its own process: %v", err)
	}
	defer own.Close()
	if err := own.FlushTimeout(10 * time.Second); err != nil {
		t.Error(err)
	}
	address := strings.TrimPrefix(strings.TrimPrefix(b.URL(), "tls://"), "nats://")
	if nc, err := nats.Connect("tls://"+address, nats.RootCAs(cert)); err == nil {
		nc.Close()
		t.Error("a stranger without a certificate was let in")
	}
	nc, err := nats.Connect("tls://"+address, nats.RootCAs(cert), nats.ClientCert(cert, key))
	if err != nil {
		t.Fatalf("another process with a certificate: %v", err)
	}
	nc.Close()
}

func TestABrokerThatWouldLoseMessagesIsRefused(t *testing.T) {
	dir := t.TempDir()
	file := writeConfig(t, dir, fmt.Sprintf("listen: \"127.0.0.1:-1\"\njetstream { store_dir: %q }\n", dir))
	for want, cfg := range map[string]broker.Config{
		"sync_interval": {File: file},
		"Dir":           {},
		"Listen":        {Dir: dir, Listen: "nowhere"},
		"no such file":  {File: filepath.Join(dir, "missing.conf")},
		"in [0, 65535]": {Dir: dir, Listen: "127.0.0.1:99999"},
	} {
		cfg.Logger = quiet()
		if b, err := broker.Start(cfg); err == nil || !strings.Contains(err.Error(), want) {
			if b != nil {
				b.Close()
			}
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

// Without a file nobody else reaches the broker, unless there is an address.
func TestABrokerIsReachedOnlyWhereItListens(t *testing.T) {
	alone, err := broker.Start(broker.Config{Dir: t.TempDir(), Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	if nc, err := nats.Connect(alone.URL(), nats.Timeout(time.Second)); err == nil {
		nc.Close()
		t.Errorf("a broker without an address answers at %s", alone.URL())
	}
	listening, err := broker.Start(broker.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer listening.Close()
	nc, err := nats.Connect(listening.URL())
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
}
