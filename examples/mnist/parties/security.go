package parties

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/hushgrad/hushgrad/internal/authority"
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
	until := time.Now().Add(life)
	signer, err := authority.New("authority of one demo", until)
	if err != nil {
		return nil, err
	}
	s.pool.AddCert(signer.Certificate)
	certificate, _, err := signer.PEM()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(s.authority, certificate, 0o600); err != nil {
		return nil, err
	}
	for _, name := range []string{Issuer, Shuffler, Aggregator, operatorName} {
		certificate, key, err := signer.Sign(authority.Party{Name: name, Alternatives: []string{name, "127.0.0.1"}, Serves: true, Calls: true}, until)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(os.WriteFile(s.certificate(name), certificate, 0o600), os.WriteFile(s.key(name), key, 0o600)); err != nil {
			return nil, err
		}
	}
	return s, nil
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
