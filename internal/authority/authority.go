// Package authority makes certificates for the parties of a deployment. Use it where the parties
// are yours and no authority of others knows their names. Start with [New], and [Authority.Sign].
//
// All keys are of ECDSA with P-256.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"time"
)

// The types of PEM blocks.
const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "PRIVATE KEY"
)

// skew is by how much the clock of a party may be behind: a day, and some time to write the certificates.
const skew = 25 * time.Hour

// Authority signs certificates.
type Authority struct {
	// Certificate is what parties trust.
	Certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Party is what a certificate says of its owner.
type Party struct {
	Name string // the common name
	// Alternatives are the DNS names and IP addresses by which others reach the party.
	Alternatives []string
	// Serves and Calls say in which roles of TLS the certificate is accepted.
	Serves, Calls bool
}

// New makes an authority with a key of its own.
func New(name string, until time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-skew), NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &Authority{certificate, key}, err
}

// Parse returns the authority with a private key. Its certificate is among the certificates. Other
// authorities may have theirs beside it.
func Parse(certificates, key []byte) (*Authority, error) {
	block, _ := pem.Decode(key)
	if block == nil || block.Type != keyBlock {
		return nil, fmt.Errorf("the key is not a PEM block %q", keyBlock)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("the key is a %T: want one of ECDSA", parsed)
	}
	for block, rest := pem.Decode(certificates); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		if certificate.IsCA && private.PublicKey.Equal(certificate.PublicKey) {
			return &Authority{certificate, private}, nil
		}
	}
	return nil, errors.New("no certificate of an authority belongs to the key")
}

// PEM returns the certificate and the private key.
func (a *Authority) PEM() (certificate, key []byte, err error) {
	return encode(a.Certificate.Raw, a.key)
}

// Sign makes a certificate and a new private key for a party, in PEM.
func (a *Authority) Sign(p Party, until time.Time) (certificate, key []byte, err error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: p.Name}, NotBefore: time.Now().Add(-skew), NotAfter: until,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if p.Serves {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if p.Calls {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	for _, name := range p.Alternatives {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.Certificate, &private.PublicKey, a.key)
	if err != nil {
		return nil, nil, err
	}
	return encode(der, private)
}

func encode(der []byte, private *ecdsa.PrivateKey) (certificate, key []byte, err error) {
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: pkcs8}), nil
}
