package issuer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

func newBearer(t testing.TB, name string) (secret, line string) {
	t.Helper()
	secret, line, err := NewBearer(name)
	if err != nil {
		t.Fatal(err)
	}
	return secret, line
}

// withHeader is the context of a call with authorization headers.
func withHeader(values ...string) context.Context {
	return metadata.NewIncomingContext(context.Background(), metadata.MD{"authorization": values})
}

func TestBearersAreAdmittedByTheirSecrets(t *testing.T) {
	anna, annaLine := newBearer(t, "anna")
	spare, spareLine := newBearer(t, "anna")
	bert, bertLine := newBearer(t, "bert")
	stranger, _ := newBearer(t, "carl")
	path := filepath.Join(t.TempDir(), "bearers")
	write := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# clients", "", annaLine, "  "+spareLine, bertLine)
	b, err := OpenBearers(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for secret, want := range map[string]string{anna: "bearer anna", spare: "bearer anna", bert: "bearer bert"} {
		for _, scheme := range []string{"Bearer ", "bearer "} {
			if got, err := b.Admit(withHeader(scheme + secret)); err != nil || got != want {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		}
	}
	for name, ctx := range map[string]context.Context{
		"no headers": context.Background(), "no value": withHeader(), "two values": withHeader("Bearer "+anna, "Bearer "+anna),
		"no secret": withHeader("Bearer"), "another scheme": withHeader("Basic " + anna), "a stranger": withHeader("Bearer " + stranger),
		"a part": withHeader("Bearer " + anna[1:]), "the line": withHeader("Bearer " + strings.Fields(annaLine)[1]), "empty": withHeader("Bearer "),
	} {
		if got, err := b.Admit(ctx); err == nil {
			t.Errorf("%s: admitted as %q", name, got)
		}
	}

	// The file changes. Nobody waits a second for it here.
	admitted := func(secret string) (string, error) {
		b.looked = time.Time{}
		return b.Admit(withHeader("Bearer " + secret))
	}
	write(bertLine)
	if _, err := admitted(anna); status.Code(err) != codes.Unknown {
		t.Errorf("a client that was removed: %v", err)
	}
	if got, err := admitted(bert); err != nil || got != "bearer bert" {
		t.Errorf("a client that stayed: %q, %v", got, err)
	}
	write(bertLine, "half a li")
	for range 2 {
		if _, err := admitted(bert); status.Code(err) != codes.Unavailable {
			t.Errorf("a damaged file: %v, want UNAVAILABLE", err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := admitted(bert); status.Code(err) != codes.Unavailable {
		t.Errorf("a file that is gone: %v, want UNAVAILABLE", err)
	}
	write(annaLine)
	if got, err := admitted(anna); err != nil || got != "bearer anna" {
		t.Errorf("a file that is back: %q, %v", got, err)
	}
	if _, err := OpenBearers(path+"x", nil); !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("no file: %v", err)
	}
}

// unwrapAll returns the innermost error.
func unwrapAll(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		err = inner.Unwrap()
	}
}

func TestSecretsAreNotInTheFile(t *testing.T) {
	secret, line := newBearer(t, "anna")
	sum := sha256.Sum256([]byte(secret))
	if line != "anna "+hex.EncodeToString(sum[:]) || len(secret) < 26 {
		t.Errorf("secret %q has the line %q", secret, line)
	}
	if other, _ := newBearer(t, "anna"); other == secret {
		t.Error("two secrets are the same")
	}
	for _, name := range []string{"", "#anna", "an na", "anna\n", "änna", "\x7f", strings.Repeat("x", maxBearerName+1)} {
		_, _, err := NewBearer(name)
		wantError(t, name, err, nil, "name")
	}
}

func TestBadBearerFilesAreRefused(t *testing.T) {
	_, line := newBearer(t, "anna")
	sum := strings.Fields(line)[1]
	for name, c := range map[string]struct{ text, param string }{
		"one field": {"anna", "line"}, "three fields": {line + " x", "line"}, "a long line": {"#" + strings.Repeat("x", maxBearerLine), "line"},
		"a bad name": {"än " + sum, "name"}, "a secret": {"anna JBSWY3DPEHPK3PXP", "secret"}, "a short sum": {line[:len(line)-2], "secret"},
		"one secret for two": {line + "\nbert " + sum, "secret"},
	} {
		_, err := parseBearers(strings.NewReader(c.text))
		wantError(t, name, err, nil, c.param)
	}
	_, err := parseBearers(endless{new(int)})
	wantError(t, "an endless file", err, nil, "file")
	if names, err := parseBearers(strings.NewReader(line + "\r\n" + line)); err != nil || len(names) != 1 {
		t.Errorf("a line twice: %v, %v", names, err)
	}
}

// endless is a file of comments without an end.
type endless struct{ offset *int }

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
		if *e.offset++; *e.offset%1000 == 0 {
			p[i] = '\n'
		}
	}
	return len(p), nil
}

func FuzzBearers(f *testing.F) {
	_, line := newBearer(f, "anna")
	f.Add([]byte("# clients\n" + line + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		names, err := parseBearers(bytes.NewReader(data))
		if (names == nil) == (err == nil) {
			t.Fatalf("%q: %v, %v", data, names, err)
		}
		for sum, name := range names {
			if checkBearerName(name) != nil || !bytes.Contains(bytes.ToLower(data), []byte(hex.EncodeToString(sum[:]))) {
				t.Fatalf("%q admits %q", data, name)
			}
		}
	})
}
