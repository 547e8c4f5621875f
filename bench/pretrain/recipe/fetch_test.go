package recipe

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testFont is a font of these bytes.
func testFont(content string) Font {
	sum := sha256.Sum256([]byte(content))
	return Font{Package: "no-such-family", Version: "0.0.0", File: "400Regular/Test.ttf", SHA256: hex.EncodeToString(sum[:])}
}

// packed is a package with one file. Its head says that the file has the given size.
func packed(t testing.TB, name, content string, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	_ = w.Close() // it says so when the content is shorter than its head
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUnpack(t *testing.T) {
	f := testFont("a font")
	const name = "package/400Regular/Test.ttf"
	if b, err := f.unpack(bytes.NewReader(packed(t, name, "a font", 6))); err != nil || string(b) != "a font" {
		t.Errorf("got %q, %v", b, err)
	}
	for what, c := range map[string]struct {
		b    []byte
		want string
	}{
		"other bytes": {packed(t, name, "a fond", 6), "SHA-256 of 400Regular/Test.ttf"},
		"other name":  {packed(t, "package/Test.ttf", "a font", 6), "is not in the package"},
		"large":       {packed(t, name, "a font", maxFont+1), "must be at most"},
		"cut":         {packed(t, name, "a font", 7), "unexpected EOF"},
		"no package":  {[]byte("a font"), "EOF"},
	} {
		if _, err := f.unpack(bytes.NewReader(c.b)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	font := testFont("a font")
	f.Add(packed(f, "package/400Regular/Test.ttf", "a font", 6))
	f.Add(packed(f, "package/400Regular/Test.ttf", "a font", maxFont+1))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := font.unpack(bytes.NewReader(b)); err == nil && string(got) != "a font" {
			t.Fatalf("took %q for the font", got)
		}
	})
}

// A font in the cache needs no npm. One whose bytes are wrong is fetched anew, which fails
// where there is no npm.
func TestFetchLooksIntoTheCacheFirst(t *testing.T) {
	t.Setenv("PATH", "")
	f, cache := testFont("a font"), t.TempDir()
	path := filepath.Join(cache, "Test.ttf")
	if err := os.WriteFile(path, []byte("a font"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := Fetch(t.Context(), cache, f); err != nil || string(b) != "a font" {
		t.Errorf("got %q, %v", b, err)
	}
	if err := os.WriteFile(path, []byte("a fond"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Fetch(t.Context(), cache, f); err == nil || !strings.Contains(err.Error(), "npm") {
		t.Errorf("wrong bytes in the cache: %v, want an error about npm", err)
	}
}

// Every font is pinned, and is there once.
func TestFontsArePinned(t *testing.T) {
	seen, trained := map[string]bool{}, 0
	for _, f := range Fonts {
		if seen[f.Package] || seen[f.File] || seen[f.SHA256] {
			t.Errorf("%s is there twice", f.Package)
		}
		seen[f.Package], seen[f.File], seen[f.SHA256] = true, true, true
		if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(f.Version) || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(f.SHA256) {
			t.Errorf("%s is not pinned", f.Package)
		}
		if !f.HeldOut {
			trained++
		}
	}
	if trained < 12 || len(Fonts)-trained < 3 {
		t.Errorf("%d fonts to train on and %d held out, want at least 12 and 3", trained, len(Fonts)-trained)
	}
}
