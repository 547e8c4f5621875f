package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"

	"github.com/hushgrad/hushgrad/server/journal"
)

// watcher is told of calls.
type watcher struct{ stats.Handler }

// Every setting of an issuer reaches it.
func TestAnIssuersSettingsReachIt(t *testing.T) {
	c := IssuerConfig{
		Journal: journal.NewMemory(), Admit: AdmitCertificates, Logger: slog.New(slog.DiscardHandler), MaxKeys: 1,
		Credentials: insecure.NewCredentials(), OperatorCredentials: insecure.NewCredentials(), HTTPSecurity: &tls.Config{},
		HTTPOrigins: []string{"https://example.org"}, OHTTPKeys: []string{"a key"}, Metrics: prometheus.NewRegistry(), StatsHandler: watcher{}, Ready: func() error { return errors.New("a test") },
	}
	given, inner := reflect.ValueOf(c), reflect.ValueOf(c.inner())
	for i := range given.NumField() {
		name := given.Type().Field(i).Name
		if given.Field(i).IsZero() || inner.FieldByName(name).IsZero() {
			t.Errorf("%s is lost, or not set here", name)
		}
	}
}

// A caller who knows a secret of the file is the client of its line, and another caller is none.
func TestASecretAdmitsItsClient(t *testing.T) {
	secret, line, err := NewBearer("alice")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bearers")
	if err := os.WriteFile(file, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	admit, err := AdmitBearers(file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	as := func(secret string) (string, error) {
		return admit(metadata.NewIncomingContext(context.Background(), metadata.Pairs("authorization", "Bearer "+secret)))
	}
	if identity, err := as(secret); err != nil || identity == "" {
		t.Errorf("the secret: %q, %v", identity, err)
	}
	if identity, err := as("X" + secret); err == nil {
		t.Errorf("another secret is %q", identity)
	}
	if _, err := AdmitBearers(file+".not", slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a file that is not there was read")
	}
}
