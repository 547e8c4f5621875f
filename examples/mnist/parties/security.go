package parties

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

// life is how long the certificates are good.
const life = 7 * 24 * time.Hour

// security is an authority for one run, and the certificates that it has signed. Its private key is
// gone when the certificates are made.
type security struct {
	dir       string
	authority string // file
	pool      *x509.CertPool
}

func (s *security) certificate(name string) string { return filepath.Join(s.dir, name+".pem") }
func (s *security) key(name string) string         { return filepath.Join(s.dir, name+".key") }

// newSecurity makes an authority and a certificate for every party, in files below dir.
func newSecurity(dir string) (*security, error) {
	s := &security{dir: filepath.Join(dir, "certificates"), pool: x509.NewCertPool()}
	s.authority = s.certificate("authority")
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of one demo"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(life),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	authority, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	s.pool.AddCert(authority)
	if err := writePEM(s.authority, "CERTIFICATE", der); err != nil {
		return nil, err
	}
	for i, name := range []string{Issuer, Shuffler, Aggregator, operatorName} {
		if err := s.issue(name, int64(i+2), authority, key); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// issue makes the certificate of a party, for its name and for loopback addresses.
func (s *security) issue(name string, serial int64, authority *x509.Certificate, signer *ecdsa.PrivateKey) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, authority, &key.PublicKey, signer)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(s.certificate(name), "CERTIFICATE", der); err != nil {
		return err
	}
	return writePEM(s.key(name), "PRIVATE KEY", private)
}

func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// drawSecrets draws the secrets of the clients and returns the issuer's file about them.
func (p *Parties) drawSecrets(c Config) (file string, err error) {
	var lines bytes.Buffer
	for i := range c.Clients {
		secret, line, err := server.NewBearer(fmt.Sprint("client-", i))
		if err != nil {
			return "", err
		}
		p.secrets = append(p.secrets, client.Bearer(secret))
		fmt.Fprintln(&lines, line)
	}
	file = filepath.Join(c.Dir, "bearers")
	return file, os.WriteFile(file, lines.Bytes(), 0o600)
}

// reserve finds a free loopback address for each listener.
func (p *Parties) reserve(listeners ...string) error {
	for _, name := range listeners {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer l.Close() // when all are found, so that they differ
		p.addresses[name] = l.Addr().String()
	}
	return nil
}

// page returns the address of the dashboard, with a free port in the place of port 0, and notes its
// URL. "" is none.
func (p *Parties) page(address string) (string, error) {
	if address == "" {
		return "", nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", err
	}
	scheme := "http"
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		scheme = "https"
	}
	p.Dashboard = scheme + "://" + l.Addr().String() + "/"
	return l.Addr().String(), l.Close()
}
