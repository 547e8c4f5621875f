package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// authority signs certificates of tests.
type authority struct {
	t    *testing.T
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	file string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.file, _, a.cert, a.key = a.issue("authority", time.Hour, nil)
	return a
}

// issue makes a certificate for a name and addresses of this machine, that ends after some time, and writes
// it and its key. Without an authority it is one itself.
func (a *authority) issue(name string, life time.Duration, addresses []net.IP) (certFile, keyFile string, cert *x509.Certificate, key *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IPAddresses: addresses,
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(life), BasicConstraintsValid: true,
		IsCA: a.cert == nil, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		a.t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	certFile = writeFile(a.t, a.dir, name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	keyFile = writeFile(a.t, a.dir, name+".key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})))
	return certFile, keyFile, cert, key
}

// Who calls a server in a wrong way gets to know what to change, in the same sentence every time: which end of a
// refused connection is the first to notice is a matter of chance.
func TestWrongCallsSayWhatToChange(t *testing.T) {
	t.Parallel()
	tries := 10
	if *long {
		tries = 40
	}
	ours, theirs := newAuthority(t), newAuthority(t)
	here := []net.IP{net.IPv4(127, 0, 0, 1)}
	cert, key, _, _ := ours.issue("server", time.Hour, here)
	shows := func(a *authority, name string, life time.Duration) []string {
		cert, key, _, _ := a.issue(name, life, nil)
		return []string{"--tls-ca", ours.file, "--tls-cert", cert, "--tls-key", key}
	}
	serve := func(cert, key string, args ...string) string {
		operator := freeAddress(t)
		if cert != "" {
			args = append(args, "--tls-cert", cert, "--tls-key", key, "--operator-ca", ours.file, "--operator-name", "operator")
		}
		run(t, append([]string{"--operator-listen", operator}, args...)...)
		return operator
	}
	clients := freeAddress(t)
	secure, plain := serve(cert, key), serve("", "", "--listen", clients)
	oldCert, oldKey, old, _ := ours.issue("old", -time.Hour, here)
	expired := serve(oldCert, oldKey)
	elsewhereCert, elsewhereKey, _, _ := ours.issue("elsewhere", time.Hour, []net.IP{net.IPv4(192, 0, 2, 1)})
	elsewhere := serve(elsewhereCert, elsewhereKey)
	for name, c := range map[string]struct {
		server string
		flags  []string
		flag   string
		got    string
		rule   string
	}{
		"the clients' listener": {clients, nil, "--server", clients, "must be its listener for hushgrad.v1.Operator, and is another one"},
		"no certificate":        {secure, []string{"--tls-ca", ours.file}, "--tls-cert and --tls-key", "", "are required: " + secure + " asks for a certificate"},
		"another authority's":   {secure, shows(theirs, "operator", time.Hour), "--tls-cert", theirs.dir + "/operator.pem", "must be signed by an authority that " + secure + " accepts"},
		"an expired one":        {secure, shows(ours, "late", -time.Hour), "--tls-cert", ours.dir + "/late.pem", "must be valid now: " + secure + " finds that it has expired, or is not valid yet"},
		"another role's":        {secure, shows(ours, "shuffler", time.Hour), "--tls-cert", ours.dir + "/shuffler.pem", "must have a name that " + secure + " accepts: its log says which"},
		"no TLS":                {secure, nil, "--server", secure, "must be a server without TLS, and closes the connection: one with TLS needs --tls-ca"},
		"TLS":                   {plain, []string{"--tls-ca", ours.file}, "--server", plain, "must answer with TLS, and does not: a server without needs no --tls-ca"},
		"the server's authority": {secure, []string{"--tls-ca", theirs.file}, "--tls-ca", theirs.file,
			"must hold the authority that has signed the certificate of --server " + secure},
		"an expired server": {expired, shows(ours, "operator", time.Hour), "--server", expired,
			fmt.Sprintf("must have a certificate that is valid now: it is from %s to %s", old.NotBefore.Format(time.RFC3339), old.NotAfter.Format(time.RFC3339))},
		"a server's name": {elsewhere, shows(ours, "operator", time.Hour), "--server", elsewhere,
			"must be a name in the server's certificate: certificate is valid for 192.0.2.1, not 127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			want := fmt.Sprintf("%s: got %q, rule: %s\n", c.flag, c.got, c.rule)
			for try := range tries {
				if text := refusal(t, append([]string{"rounds", "list", "--server", c.server}, c.flags...)...); !strings.HasSuffix(text, ": "+want) {
					t.Fatalf("try %d: %q, want %q", try, text, want)
				}
			}
		})
	}
	printed(t, append([]string{"rounds", "list", "--server", secure}, shows(ours, "operator", time.Hour)...)...)
}

// A server's log says whom it has refused.
func TestTheLogSaysWhoWasRefused(t *testing.T) {
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	selfSigned(t, cert, key)
	operator, out := freeAddress(t), &log{}
	runLogging(t, out, "--tls-cert", cert, "--tls-key", key, "--operator-listen", operator, "--operator-ca", cert, "--operator-name", "nobody")
	refusal(t, "rounds", "list", "--server", operator, "--tls-ca", cert, "--tls-cert", cert, "--tls-key", key)
	out.waitFor(t, "a caller was refused")
	out.waitFor(t, "must have a name of --operator-name")
}
