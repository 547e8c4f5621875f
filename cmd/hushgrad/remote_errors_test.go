package main

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/internal/authority"
)

// signer signs certificates of tests.
type signer struct {
	*authority.Authority
	t         *testing.T
	dir, file string
}

func newSigner(t *testing.T) *signer {
	t.Helper()
	a, err := authority.New("authority", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	certificate, _, err := a.PEM()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return &signer{a, t, dir, writeFile(t, dir, "authority.pem", string(certificate))}
}

// issue makes a certificate for a name and addresses, that ends after some time, and writes it and its key.
func (s *signer) issue(name string, life time.Duration, addresses ...string) (certFile, keyFile string) {
	s.t.Helper()
	certificate, key, err := s.Sign(authority.Party{Name: name, Alternatives: addresses, Serves: true, Calls: true}, time.Now().Add(life))
	if err != nil {
		s.t.Fatal(err)
	}
	return writeFile(s.t, s.dir, name+".pem", string(certificate)), writeFile(s.t, s.dir, name+".key.pem", string(key))
}

// Who calls a server in a wrong way gets to know what to change, in the same sentence every time: which end of a
// refused connection is the first to notice is a matter of chance.
func TestWrongCallsSayWhatToChange(t *testing.T) {
	t.Parallel()
	tries := 10
	if *long {
		tries = 40
	}
	ours, theirs := newSigner(t), newSigner(t)
	cert, key := ours.issue("server", time.Hour, "127.0.0.1")
	shows := func(s *signer, name string, life time.Duration) []string {
		cert, key := s.issue(name, life)
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
	oldCert, oldKey := ours.issue("old", -time.Minute, "127.0.0.1")
	old, err := tls.LoadX509KeyPair(oldCert, oldKey)
	if err != nil {
		t.Fatal(err)
	}
	expired := serve(oldCert, oldKey)
	elsewhereCert, elsewhereKey := ours.issue("elsewhere", time.Hour, "192.0.2.1")
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
		"an expired one":        {secure, shows(ours, "late", -time.Minute), "--tls-cert", ours.dir + "/late.pem", "must be valid now: " + secure + " finds that it has expired, or is not valid yet"},
		"another role's":        {secure, shows(ours, "shuffler", time.Hour), "--tls-cert", ours.dir + "/shuffler.pem", "must have a name that " + secure + " accepts: its log says which"},
		"no TLS":                {secure, nil, "--server", secure, "must be a server without TLS, and closes the connection: one with TLS needs --tls-ca"},
		"TLS":                   {plain, []string{"--tls-ca", ours.file}, "--server", plain, "must answer with TLS, and does not: a server without needs no --tls-ca"},
		"the server's authority": {secure, []string{"--tls-ca", theirs.file}, "--tls-ca", theirs.file,
			"must hold the authority that has signed the certificate of --server " + secure},
		"an expired server": {expired, shows(ours, "operator", time.Hour), "--server", expired,
			fmt.Sprintf("must have a certificate that is valid now: it is from %s to %s", old.Leaf.NotBefore.Format(time.RFC3339), old.Leaf.NotAfter.Format(time.RFC3339))},
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
