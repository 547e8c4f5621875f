package authority

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// signed returns the certificate that an authority signs for a party.
func signed(t *testing.T, a *Authority, p Party, until time.Time) *x509.Certificate {
	t.Helper()
	certificate, key, err := a.Sign(p, until)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certificate, key) // which refuses a key of another certificate
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

// A certificate has the names, the uses and the end that were asked for, and only its authority's
// certificate accepts it.
func TestCertificatesSayWhatWasAskedFor(t *testing.T) {
	until := time.Now().Add(90 * 24 * time.Hour).Truncate(time.Second)
	a, err := New("an authority", until.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if c := a.Certificate; !c.IsCA || !c.BasicConstraintsValid || c.KeyUsage != x509.KeyUsageCertSign|x509.KeyUsageCRLSign || c.Subject.CommonName != "an authority" || !c.NotAfter.Equal(until.Add(time.Hour)) {
		t.Errorf("the authority is %+v", c)
	}
	own := x509.NewCertPool()
	own.AddCert(a.Certificate)
	leaf := signed(t, a, Party{Name: "both", Alternatives: []string{"a.example", "127.0.0.1", "::1"}, Serves: true, Calls: true}, until)
	if leaf.Subject.CommonName != "both" || !slices.Equal(leaf.DNSNames, []string{"a.example"}) || len(leaf.IPAddresses) != 2 || !leaf.IPAddresses[1].Equal(net.IPv6loopback) {
		t.Errorf("names %v, %v, %v", leaf.Subject, leaf.DNSNames, leaf.IPAddresses)
	}
	if leaf.IsCA || !leaf.BasicConstraintsValid || leaf.KeyUsage != x509.KeyUsageDigitalSignature || !leaf.NotAfter.Equal(until) || time.Since(leaf.NotBefore) < skew {
		t.Errorf("the certificate is %+v", leaf)
	}
	for _, c := range []struct {
		serves, calls bool
		want          []x509.ExtKeyUsage
	}{
		{true, false, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}},
		{false, true, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
		{true, true, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}},
	} {
		if got := signed(t, a, Party{Name: "one", Serves: c.serves, Calls: c.calls}, until).ExtKeyUsage; !slices.Equal(got, c.want) {
			t.Errorf("serves %v, calls %v: uses %v", c.serves, c.calls, got)
		}
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: own, DNSName: "a.example"}); err != nil {
		t.Error(err)
	}
	other, err := New("an authority", until)
	if err != nil {
		t.Fatal(err)
	}
	others := x509.NewCertPool()
	others.AddCert(other.Certificate)
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: others, DNSName: "a.example"}); err == nil {
		t.Error("another authority accepts the certificate")
	}
	if second := signed(t, a, Party{Name: "both", Serves: true}, until); second.SerialNumber.Cmp(leaf.SerialNumber) == 0 {
		t.Error("two certificates have one serial number")
	}
}

// An authority is read back from its files, also beside another one, and not with another one's key.
func TestParseFindsTheAuthorityOfTheKey(t *testing.T) {
	var certificates, keys [2][]byte
	for i := range certificates {
		a, err := New("an authority", time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if certificates[i], keys[i], err = a.PEM(); err != nil {
			t.Fatal(err)
		}
	}
	both := append(slices.Clone(certificates[0]), certificates[1]...)
	for i := range certificates {
		a, err := Parse(both, keys[i])
		if err != nil {
			t.Fatal(err)
		}
		if again, _, err := a.PEM(); err != nil || string(again) != string(certificates[i]) {
			t.Errorf("authority %d is another one: %v", i, err)
		}
	}
	for text, c := range map[string][2][]byte{
		"no certificate of an authority belongs to the key": {certificates[0], keys[1]},
		"not a PEM block": {both, certificates[0]},
		"asn1: ":          {both, []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")},
	} {
		if _, err := Parse(c[0], c[1]); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
}
