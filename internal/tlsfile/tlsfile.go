// Package tlsfile secures a listener with PEM files that may be replaced while it serves.
// Use it in commands that run for months: a renewed certificate needs no restart and ends no
// connection. Start with [LoadCertificate] and [Certificate.Config], for a connection to
// another party with [Certificate.ClientConfig].
//
// The files are looked at when a connection begins. Files that cannot be used leave the old
// ones in force, with a warning. The package certprovider/pemfile of gRPC rereads files,
// too; its warnings reach gRPC's log alone, which is silent by default.
package tlsfile

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

// maxBytes bounds a PEM file.
const maxBytes = 1 << 20

// Certificate is a certificate chain and its private key. It is safe for concurrent use.
type Certificate struct{ files follower[*tls.Certificate] }

// LoadCertificate reads a certificate chain and its private key. The logger receives a
// warning when later ones cannot be used.
func LoadCertificate(chain, key string, logger *slog.Logger) (*Certificate, error) {
	c := &Certificate{follower[*tls.Certificate]{paths: []string{chain, key}, logger: logger}}
	c.files.parse = func(texts [][]byte) (*tls.Certificate, error) {
		pair, err := pairOf(chain, key, texts)
		return &pair, err
	}
	return c, c.files.load()
}

// LoadPair reads a certificate chain and its private key once.
func LoadPair(chain, key string) (tls.Certificate, error) {
	f := follower[tls.Certificate]{paths: []string{chain, key}, parse: func(texts [][]byte) (tls.Certificate, error) { return pairOf(chain, key, texts) }}
	return f.read()
}

// pairOf returns the pair in the texts of two files. Its error says which of them is the wrong one.
func pairOf(chain, key string, texts [][]byte) (tls.Certificate, error) {
	pair, err := tls.X509KeyPair(texts[0], texts[1])
	switch {
	case err == nil:
		return pair, nil
	case !holds(texts[0], "CERTIFICATE"):
		return pair, fl.Invalid("file", chain, "must hold PEM certificates: %v", err)
	case !holds(texts[1], "PRIVATE KEY"):
		return pair, fl.Invalid("file", key, "must hold a private key in PEM: %v", err)
	}
	return pair, fl.Invalid("file", key, "must hold the private key of the certificate in %s: %v", chain, err)
}

// holds reports whether a text has a block of PEM whose type ends with kind.
func holds(text []byte, kind string) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if strings.HasSuffix(block.Type, kind) {
			return true
		}
	}
	return false
}

// CheckValid returns an error when a client would refuse the certificate at that time. On nil,
// no certificate, it returns nil.
func (c *Certificate) CheckValid(at time.Time) error {
	if c == nil {
		return nil
	}
	leaf := c.files.current().Leaf
	switch {
	case at.After(leaf.NotAfter):
		return fmt.Errorf("the certificate %s has expired at %s", c.files.paths[0], leaf.NotAfter.UTC().Format(time.RFC3339))
	case at.Before(leaf.NotBefore):
		return fmt.Errorf("the certificate %s is not valid before %s", c.files.paths[0], leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

// Expires returns when the first certificate of the chain ends, as the files are now.
func (c *Certificate) Expires() time.Time {
	now := c.files.current()
	ends := now.Leaf.NotAfter
	for _, der := range now.Certificate[1:] {
		if issuer, err := x509.ParseCertificate(der); err == nil && issuer.NotAfter.Before(ends) {
			ends = issuer.NotAfter
		}
	}
	return ends
}

// Config returns the settings of a listener that shows the certificate. It speaks TLS 1.3
// alone.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS13,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.files.current(), nil },
	}
}

// Authorities are the certificates of authorities. It is safe for concurrent use.
type Authorities struct{ files follower[*x509.CertPool] }

// LoadAuthorities reads the certificates of authorities. The logger receives a warning when
// later ones cannot be used.
func LoadAuthorities(file string, logger *slog.Logger) (*Authorities, error) {
	a := &Authorities{follower[*x509.CertPool]{paths: []string{file}, logger: logger}}
	a.files.parse = func(texts [][]byte) (*x509.CertPool, error) {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(texts[0]) {
			return nil, fl.Invalid("file", file, "must hold PEM certificates")
		}
		return pool, nil
	}
	return a, a.files.load()
}

// Pool returns the authorities as they are now.
func (a *Authorities) Pool() *x509.CertPool { return a.files.current() }

// ClientConfig returns the settings of one connection to a party whose certificate an authority
// has signed, by the files as they are now. It shows the certificate to a party that asks for one;
// on nil there is none to show.
func (c *Certificate) ClientConfig(a *Authorities) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: a.Pool()}
	if c != nil {
		config.Certificates = []tls.Certificate{*c.files.current()}
	}
	return config
}

// MutualConfig is Config for a listener that asks its clients for a certificate of one of
// the authorities, which accept may still refuse. Every connection proves it anew: nothing
// is resumed, so an authority that is taken out of the file is refused from then on.
func (c *Certificate) MutualConfig(a *Authorities, accept func(*x509.Certificate) error) *tls.Config {
	config := c.Config()
	config.SessionTicketsDisabled = true
	config.ClientAuth = tls.RequireAndVerifyClientCert
	config.VerifyConnection = func(state tls.ConnectionState) error { return accept(state.PeerCertificates[0]) }
	base := config.Clone()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		now := base.Clone()
		now.ClientCAs = a.Pool()
		return now, nil
	}
	return config
}

// read returns what is in a file.
func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err == nil && len(text) > maxBytes {
		return nil, fl.Invalid("file", path, "must have at most %d bytes", maxBytes)
	}
	return text, err
}
