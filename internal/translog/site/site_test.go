package site

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/internal/translog"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A log that grows across the bounds of tiles is read over HTTP as from its folder, and takes a witness's signature there.
func TestALogIsReadOverHTTP(t *testing.T) {
	dir := t.TempDir()
	private, public, err := translog.NewKey("test.example/log", false)
	must(t, err)
	own, witnessed, err := translog.NewKey("witness.example", true)
	must(t, err)
	l, err := translog.Open(dir, private, []string{witnessed})
	must(t, err)
	keys, err := translog.NewKeys("key", public, "witness", []string{witnessed})
	must(t, err)
	witness, err := translog.NewWitness("key", public, "own", own)
	must(t, err)
	web := httptest.NewServer(http.StripPrefix("/log/", Handler(l)))
	defer web.Close()
	for _, size := range []int{1, 255, 256, 700} {
		for n := l.Size(); n < int64(size); n++ {
			must(t, l.Append(translog.Entry{Kind: translog.Round, Time: time.Unix(1e9, 0), Round: fmt.Sprint("r", n), SHA256: translog.Digest{byte(n), byte(n >> 8)}}))
		}
		var roots []string
		for _, place := range []string{dir, web.URL + "/log/"} {
			files, err := Open("log", place)
			must(t, err)
			r := translog.NewReader(files, keys)
			c, err := r.Checkpoint(t.Context())
			must(t, err)
			found := 0
			for entry, err := range r.Entries(t.Context(), c, 0) {
				must(t, err)
				if entry.Round != fmt.Sprint("r", found) {
					t.Fatalf("%s: entry %d is about %s", place, found, entry.Round)
				}
				found++
			}
			if found != size {
				t.Errorf("%s: %d entries, want %d", place, found, size)
			}
			roots = append(roots, fmt.Sprint(c.Tree))
			signed, err := witness.Cosign(c)
			must(t, err)
			if err := Send(t.Context(), "log", files, signed); (err == nil) != (place != dir) {
				t.Errorf("%s: %v", place, err)
			}
		}
		if roots[0] != roots[1] {
			t.Errorf("the folder has %s, and the URL %s", roots[0], roots[1])
		}
		c, err := keys.Open(l.Signed())
		if err != nil || keys.Witnessed(c) != nil {
			t.Errorf("no signature of the witness: %v, %v", err, keys.Witnessed(c))
		}
	}
}

// What is no file of the log is not shown, and what is no signature is not taken.
func TestNothingElseIsServed(t *testing.T) {
	private, _, err := translog.NewKey("test.example/log", false)
	must(t, err)
	l, err := translog.Open(t.TempDir(), private, nil)
	must(t, err)
	for call, want := range map[string]int{
		"GET checkpoint": http.StatusOK, "HEAD checkpoint": http.StatusOK, "GET ../key": http.StatusNotFound, "GET tile/0/000": http.StatusNotFound,
		"GET cosigned": http.StatusNotFound, "POST checkpoint": http.StatusMethodNotAllowed, "POST cosigned": http.StatusBadRequest,
	} {
		method, path, _ := strings.Cut(call, " ")
		req, answer := httptest.NewRequest(method, "http://log/", bytes.NewReader(make([]byte, translog.MaxCheckpointBytes+1))), httptest.NewRecorder()
		req.URL.Path = path
		if Handler(l).ServeHTTP(answer, req); answer.Code != want {
			t.Errorf("%s: %d, want %d", call, answer.Code, want)
		}
	}
}

// Fetch bounds what it reads, says what is not there, and takes URLs alone.
func TestFetchIsBounded(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/a/b" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(make([]byte, 100))
	}))
	defer web.Close()
	if got, err := Fetch(t.Context(), "url", web.URL, "a/b", 100); err != nil || len(got) != 100 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := Fetch(t.Context(), "url", web.URL, "a/b", 99); err == nil || !strings.Contains(err.Error(), "at most 99") {
		t.Errorf("a longer answer: %v", err)
	}
	if _, err := Fetch(t.Context(), "url", web.URL, "c", 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	for _, place := range []string{"", "folder", "ftp://example.org", "http://"} {
		if err := CheckURL("url", place); err == nil {
			t.Errorf("%q is taken", place)
		}
		if _, err := Fetch(t.Context(), "url", place, "c", 1); err == nil {
			t.Errorf("%q is fetched from", place)
		}
	}
}
