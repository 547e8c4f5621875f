package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFetchDownloadsOnceAndCaches(t *testing.T) {
	content := fourFiles(t)
	server := newMirror(t, content, func(w http.ResponseWriter, r *http.Request) bool {
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("Accept-Encoding: got %q, want identity", got)
		}
		return false
	})
	m := testMNIST(t, content, server)
	checkFetched(t, m, content, "MNIST downloaded from "+server.url())
	if got := server.requests(); !slices.Equal(got, names(m)) {
		t.Errorf("requests: got %v, want %v", got, names(m))
	}
	if got, want := cacheFiles(t, m), slices.Sorted(slices.Values(names(m))); !slices.Equal(got, want) {
		t.Errorf("cache: got %v, want %v", got, want)
	}
	checkFetched(t, m, content, "MNIST from the cache in "+m.cacheDir)
	if got := len(server.requests()); got != 4 {
		t.Errorf("after a cache hit: got %d requests, want 4", got)
	}
}

func TestFetchReplacesWhatIsBrokenInTheCache(t *testing.T) {
	content := fourFiles(t)
	server := newMirror(t, content, nil)
	m := testMNIST(t, content, server)
	checkFetched(t, m, content, "MNIST downloaded from "+server.url())
	broken := filepath.Join(m.cacheDir, m.files[2].name)
	if err := os.WriteFile(broken, []byte("not MNIST"), 0o644); err != nil {
		t.Fatal(err)
	}
	checkFetched(t, m, content, "MNIST downloaded from "+server.url())
	if got, want := server.requests(), append(names(m), m.files[2].name); !slices.Equal(got, want) {
		t.Errorf("requests: got %v, want %v", got, want)
	}
	checkFetched(t, m, content, "MNIST from the cache in "+m.cacheDir)
}

func TestFetchGoesOnToTheNextMirror(t *testing.T) {
	content := fourFiles(t)
	first := newMirror(t, content, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "t10k-images") {
			w.Write([]byte("a page of a captive portal"))
			return true
		}
		return false
	})
	second := newMirror(t, content, nil)
	m := testMNIST(t, content, first, second)
	checkFetched(t, m, content, fmt.Sprintf("MNIST downloaded from %s and %s", first.url(), second.url()))
	if got, want := first.requests(), names(m)[:3]; !slices.Equal(got, want) {
		t.Errorf("first mirror: got requests %v, want %v", got, want)
	}
	if got, want := second.requests(), names(m)[2:]; !slices.Equal(got, want) {
		t.Errorf("second mirror: got requests %v, want %v", got, want)
	}
}

func TestFetchWithoutACache(t *testing.T) {
	content := fourFiles(t)
	inTheWay := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(inTheWay, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", filepath.Join(inTheWay, "mnist")} {
		server := newMirror(t, content, nil)
		m := testMNIST(t, content, server)
		m.cacheDir = dir
		checkFetched(t, m, content, "MNIST downloaded from "+server.url())
	}
}

// TestFetchErrors: each failure names its reason and leaves nothing behind.
func TestFetchErrors(t *testing.T) {
	content := fourFiles(t)
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request) bool
		change func(m *mnist)
		want   string
	}{
		{"wrong digest", func(w http.ResponseWriter, r *http.Request) bool {
			w.Write([]byte("x"))
			return true
		}, nil, "SHA-256: got \"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881\", rule: must be "},
		{"status", func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusForbidden)
			return true
		}, nil, `got "403 Forbidden", rule: must be status 200`},
		{"too large", nil, func(m *mnist) { m.maxBytes = 20 }, "size: got 21, rule: must be at most 20 bytes"},
		// The server starts to answer and then waits for the client to go: only
		// the time limit can end that.
		{"time limit", func(w http.ResponseWriter, r *http.Request) bool {
			w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return true
		}, func(m *mnist) { m.timeout = 50 * time.Millisecond }, "deadline exceeded"},
		{"offline", nil, func(m *mnist) { m.mirrors = []string{"http://127.0.0.1:0/"} }, "connect"}, // nothing listens on port 0
		{"bad address", nil, func(m *mnist) { m.mirrors = []string{"http://[::1/"} }, "missing ']'"},
	} {
		server := newMirror(t, content, c.answer)
		m := testMNIST(t, content, server)
		if c.change != nil {
			c.change(m)
		}
		_, _, err := m.fetch(t.Context(), t.Logf)
		if err == nil || !strings.HasPrefix(err.Error(), "MNIST could not be downloaded: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want error %q", c.name, err, c.want)
		}
		if got := cacheFiles(t, m); len(got) > 0 {
			t.Errorf("%s: left %v in the cache", c.name, got)
		}
		if got := len(server.requests()); got > 1 {
			t.Errorf("%s: got %d requests after a failure, want none", c.name, got-1)
		}
	}
}

// TestFetchStopsAtTheTimeLimit: when time is up the next mirror is not asked.
func TestFetchStopsAtTheTimeLimit(t *testing.T) {
	content := fourFiles(t)
	stuck := newMirror(t, content, func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	})
	m := testMNIST(t, content, stuck)
	m.mirrors = append(m.mirrors, "http://[::1/") // its error would show
	m.timeout = 50 * time.Millisecond
	_, _, err := m.fetch(t.Context(), t.Logf)
	if err == nil || strings.Contains(err.Error(), "missing") || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
		t.Errorf("got %v, want only that the deadline was exceeded", err)
	}
}

func TestStoreLeavesNoTemporaryFile(t *testing.T) {
	m := testMNIST(t, fourFiles(t))
	// A directory with something in it cannot be replaced by a file.
	if err := os.MkdirAll(filepath.Join(m.cacheDir, m.files[0].name, "inside"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := m.store(m.files[0], []byte("x")); err == nil {
		t.Error("got no error for a directory in the way")
	}
	if got, want := cacheFiles(t, m), []string{m.files[0].name}; !slices.Equal(got, want) {
		t.Errorf("cache: got %v, want %v", got, want)
	}
}

func TestPublicMNIST(t *testing.T) {
	m := publicMNIST()
	for _, f := range m.files {
		if b, err := hex.DecodeString(f.sha256); err != nil || len(b) != sha256.Size {
			t.Errorf("%s: SHA-256: got %q", f.name, f.sha256)
		}
	}
	if len(m.mirrors) != 2 {
		t.Errorf("got %d mirrors, want 2", len(m.mirrors))
	}
	for _, s := range m.mirrors {
		if u, err := url.Parse(s); err != nil || u.Scheme != "https" || !strings.HasSuffix(u.Path, "/mnist/") {
			t.Errorf("mirror: got %q, want https://.../mnist/", s)
		}
	}
	if m.timeout != 2*time.Minute || m.maxBytes != 16<<20 {
		t.Errorf("limits: got %v and %d bytes, want 2m and 16 MiB", m.timeout, m.maxBytes)
	}
	if dir, err := os.UserCacheDir(); err == nil && m.cacheDir != filepath.Join(dir, "hushgrad", "mnist") {
		t.Errorf("cache: got %q, want hushgrad/mnist in %q", m.cacheDir, dir)
	}
}
