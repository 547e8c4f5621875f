package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A mirror is a server on this machine in the place of a public one.
type mirror struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

// newMirror serves the files in content by name. If answer is not nil it is
// asked first, and says whether it has answered.
func newMirror(t *testing.T, content map[string][]byte, answer func(w http.ResponseWriter, r *http.Request) bool) *mirror {
	t.Helper()
	m := &mirror{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/data/")
		m.mu.Lock()
		m.asked = append(m.asked, name)
		m.mu.Unlock()
		if answer != nil && answer(w, r) {
			return
		}
		b, ok := content[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(b)
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *mirror) url() string { return m.URL + "/data/" }

// requests returns the names asked for so far.
func (m *mirror) requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// fourFiles returns a set of three train and two test pictures of 2×2 pixels as
// the four files of MNIST.
func fourFiles(t *testing.T) map[string][]byte {
	t.Helper()
	return map[string][]byte{
		"train-images-idx3-ubyte.gz": zipped(t, idx([]byte{0, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0}, 0x803, 3, 2, 2)),
		"train-labels-idx1-ubyte.gz": zipped(t, idx([]byte{7, 8, 9}, 0x801, 3)),
		"t10k-images-idx3-ubyte.gz":  zipped(t, idx([]byte{255, 0, 0, 0, 255, 255, 0, 0}, 0x803, 2, 2, 2)),
		"t10k-labels-idx1-ubyte.gz":  zipped(t, idx([]byte{1, 2}, 0x801, 2)),
	}
}

// testMNIST is publicMNIST with the files in content, mirrors on this machine,
// and an empty cache.
func testMNIST(t *testing.T, content map[string][]byte, mirrors ...*mirror) *mnist {
	t.Helper()
	m := publicMNIST()
	for i, f := range m.files {
		sum := sha256.Sum256(content[f.name])
		m.files[i].sha256 = hex.EncodeToString(sum[:])
	}
	m.mirrors = nil
	for _, s := range mirrors {
		m.mirrors = append(m.mirrors, s.url())
	}
	m.client = &http.Client{Transport: &http.Transport{}}
	m.cacheDir = filepath.Join(t.TempDir(), "hushgrad", "mnist")
	return m
}

func names(m *mnist) []string {
	var all []string
	for _, f := range m.files {
		all = append(all, f.name)
	}
	return all
}

// checkFetched fails unless m has every file, from the cache or a mirror.
func checkFetched(t *testing.T, m *mnist, content map[string][]byte, origin string) {
	t.Helper()
	got, from, err := m.fetch(t.Context(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range m.files {
		if !bytes.Equal(got[i], content[f.name]) {
			t.Errorf("%s: got %d other bytes", f.name, len(got[i]))
		}
	}
	if from != origin {
		t.Errorf("origin: got %q, want %q", from, origin)
	}
}

// cacheFiles returns the names in the cache directory, sorted.
func cacheFiles(t *testing.T, m *mnist) []string {
	t.Helper()
	entries, err := os.ReadDir(m.cacheDir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
