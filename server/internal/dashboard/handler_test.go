package dashboard

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/server/internal/overview"
)

func TestThePageLoadsNothingFromElsewhere(t *testing.T) {
	d, bytes := New(&source{}, Config{}), 0
	for path, kind := range map[string]string{
		"/": "text/html", "/static/page.js": "text/javascript", "/static/chart.js": "text/javascript", "/static/style.css": "text/css", "/static/icon.svg": "image/svg+xml",
		"/static/uplot/uPlot.iife.min.js": "text/javascript", "/static/uplot/uPlot.min.css": "text/css", "/state.json": "application/json",
	} {
		w := get(d, path)
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) {
			t.Errorf("%s: %d, %s, want %s", path, w.Code, w.Header().Get("Content-Type"), kind)
		}
		if !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'self';") || w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: headers %v", path, w.Header())
		}
		// uPlot names its home in a comment, and the picture the name space of SVG.
		if path != "/static/icon.svg" && path != "/static/uplot/uPlot.iife.min.js" && strings.Contains(w.Body.String(), "://") {
			t.Errorf("%s names another place", path)
		}
		bytes += w.Body.Len()
	}
	if bytes > 300_000 {
		t.Errorf("the page has %d bytes", bytes)
	}
	for _, path := range []string{"/static/", "/static/uplot/README.md", "/static/uplot/LICENSE", "/metrics", "/index.html", "/static/../doc.go"} {
		if w := get(d, path); w.Code == http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func TestTheDashboardIsReadOnly(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
		for _, path := range []string{"/", "/state.json", "/events"} {
			if w := get(New(&source{}, Config{}), path, func(r *http.Request) { r.Method = method }); w.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
	}
}

// A site whose name leads to 127.0.0.1 must not read the pages through a browser. A public page has
// names that nobody knows here.
func TestTheHostIsCheckedOnLoopback(t *testing.T) {
	private, public := New(&source{}, Config{}), New(&source{}, Config{Public: true})
	for host, local := range map[string]bool{
		"localhost": true, "localhost:80": true, "127.0.0.1:7122": true, "127.8.9.1": true, "[::1]": true, "[::1]:7122": true,
		"evil.example": false, "evil.example:7122": false, "localhost.evil.example": false, "127.0.0.1.evil.example:1": false, "10.0.0.1:7122": false, "": false, "[::1": false, "0.0.0.0": false,
	} {
		named := func(r *http.Request) { r.Host = host }
		for _, path := range []string{"/", "/state.json", "/static/page.js"} {
			if w := get(private, path, named); (w.Code == http.StatusOK) != local {
				t.Errorf("%s of %q: %d", path, host, w.Code)
			}
			if w := get(public, path, named); w.Code != http.StatusOK {
				t.Errorf("%s of %q on a public page: %d", path, host, w.Code)
			}
		}
	}
	if w := get(private, "/events", func(r *http.Request) { r.Host = "evil.example" }); w.Code != http.StatusMisdirectedRequest {
		t.Errorf("/events: %d", w.Code)
	}
}

func TestAServerThatIsNotReadySaysWhyToTheOperatorOnly(t *testing.T) {
	s := &source{o: overview.Overview{Ready: errors.New("no room in /var/lib/x")}}
	if got := state(t, New(s, Config{})); got.Ready || got.Problem != "no room in /var/lib/x" {
		t.Errorf("%+v", got)
	}
	if got := state(t, New(s, Config{Public: true})); got.Ready || got.Problem != "" {
		t.Errorf("%+v", got)
	}
}
