package gateway

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hushgrad/hushgrad/internal/ohttp"
)

// behind is a gateway before a handler, and its key configuration.
func behind(t testing.TB, inner http.HandlerFunc) (http.Handler, ohttp.Config) {
	t.Helper()
	key, err := ohttp.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return withOblivious(ohttp.Keys{key}, 1<<10, inner, http.NotFoundHandler()), key.Config()
}

// carried sends a request as a relay does, with headers in pairs.
func carried(h http.Handler, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, ohttp.GatewayPath, body)
	r.RemoteAddr = "192.0.2.1:1"
	r.Header.Set("Content-Type", ohttp.RequestType)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// sent seals a request to the gateway, carries it there and opens the response.
func sent(t testing.TB, h http.Handler, config ohttp.Config, message []byte, headers ...string) *ohttp.Response {
	t.Helper()
	sealed, answer, err := config.Seal(message)
	if err != nil {
		t.Fatal(err)
	}
	w := carried(h, bytes.NewReader(sealed), headers...)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != ohttp.ResponseType {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	opened, err := answer.Open(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	out, err := ohttp.DecodeResponse(opened)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The service gets what the client has sealed, the address of the relay, and nothing else that the relay says.
func TestTheServiceSeesTheRelay(t *testing.T) {
	h, config := behind(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.RemoteAddr != "192.0.2.1:1" || r.TLS != nil || len(r.Header) != 2 || r.Header.Get("Authorization") != "Bearer x" || r.URL.Path != "/s/M" || string(body) != "hello" {
			t.Errorf("%s %v %q %v", r.RemoteAddr, r.Header, body, r.URL)
		}
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "{}")
	})
	in := &ohttp.Request{Method: "POST", Scheme: "https", Path: "/s/M", Header: http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer x"}}, Content: []byte("hello")}
	out := sent(t, h, config, in.Encode(), "X-Forwarded-For", "198.51.100.7", "Authorization", "Bearer y", "Cookie", "c=d")
	if out.Status != http.StatusTeapot || string(out.Content) != "{}" || len(out.Header) != 1 || out.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", out)
	}
}

func TestWhatAGatewayRefuses(t *testing.T) {
	called := false
	h, config := behind(t, func(w http.ResponseWriter, _ *http.Request) { called = true; _, _ = w.Write(make([]byte, 1<<20)) })
	other, its := behind(t, nil)
	for its.Bytes()[0] == config.Bytes()[0] { // the identifier is a byte
		other, its = behind(t, nil)
	}
	in := &ohttp.Request{Method: "POST", Path: "/s/M", Header: http.Header{"Content-Type": {"application/proto"}}}
	sealed, _, err := config.Seal(in.Encode())
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(sealed)
	changed[len(changed)-1] ^= 1
	for name, c := range map[string]struct {
		w    *httptest.ResponseRecorder
		code int
		says string
	}{
		"another key":       {carried(other, bytes.NewReader(sealed)), http.StatusBadRequest, "#ohttp-key"},
		"a changed byte":    {carried(h, bytes.NewReader(changed)), http.StatusBadRequest, "cannot be opened"},
		"nothing":           {carried(h, http.NoBody), http.StatusBadRequest, "cannot be opened"},
		"another type":      {carried(h, bytes.NewReader(sealed), "Content-Type", "application/json"), http.StatusUnsupportedMediaType, ohttp.RequestType},
		"a long one":        {carried(h, bytes.NewReader(make([]byte, 1<<20))), http.StatusRequestEntityTooLarge, "too long"},
		"a long one, slyly": {carried(h, io.MultiReader(bytes.NewReader(make([]byte, 1<<20)))), http.StatusRequestEntityTooLarge, "too long"},
	} {
		if c.w.Code != c.code || !strings.Contains(c.w.Body.String(), c.says) {
			t.Errorf("%s: %d %s, want %d %s", name, c.w.Code, c.w.Body, c.code, c.says)
		}
	}
	for name, c := range map[string]struct {
		in   ohttp.Request
		code int
	}{
		"a stream":       {ohttp.Request{Method: "POST", Path: "/s/M", Header: http.Header{"Content-Type": {"application/connect+proto"}}}, http.StatusUnsupportedMediaType},
		"no path":        {ohttp.Request{Method: "POST", Path: "s", Header: in.Header}, http.StatusBadRequest},
		"another server": {ohttp.Request{Method: "POST", Path: "https://example.org/", Header: in.Header}, http.StatusBadRequest},
	} {
		if out := sent(t, h, config, c.in.Encode()); out.Status != c.code {
			t.Errorf("%s: %+v, want %d", name, out, c.code)
		}
	}
	if out := sent(t, h, config, []byte{2, 1, 1}); out.Status != http.StatusBadRequest || called {
		t.Errorf("no Binary HTTP: %+v, called %v", out, called)
	}
	if out := sent(t, h, config, in.Encode()); out.Status != http.StatusInternalServerError || !called || len(out.Content) > 100 {
		t.Errorf("a long answer: %d, %d bytes", out.Status, len(out.Content))
	}
}

func TestAPromisedMessageTakesNoMemory(t *testing.T) {
	key, err := ohttp.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	h := withOblivious(ohttp.Keys{key}, 1<<28, nil, http.NotFoundHandler())
	r := httptest.NewRequest(http.MethodPost, ohttp.GatewayPath, strings.NewReader("x"))
	r.Header.Set("Content-Type", ohttp.RequestType)
	r.ContentLength = 1 << 28
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h.ServeHTTP(httptest.NewRecorder(), r)
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<20 {
		t.Errorf("%d bytes for one", after.TotalAlloc-before.TotalAlloc)
	}
	r.ContentLength, r.Body = 1<<40, io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d: a message that is too long was read", w.Code)
	}
}

func TestAGatewayPublishesItsKeys(t *testing.T) {
	h, config := behind(t, nil)
	for path, want := range map[string]int{ohttp.GatewayPath: http.StatusOK, "/other": http.StatusNotFound} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
		if want == http.StatusOK && (w.Header().Get("Content-Type") != ohttp.KeysType || !bytes.HasSuffix(w.Body.Bytes(), config.Bytes())) {
			t.Errorf("%v %x", w.Header(), w.Body)
		}
	}
}

// Whatever a client seals, and whatever a relay carries, is answered.
func FuzzOblivious(f *testing.F) {
	h, config := behind(f, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	f.Add([]byte{}, true)
	f.Add((&ohttp.Request{Method: "POST", Path: "/s/M", Header: http.Header{"Content-Type": {"application/proto"}}, Content: []byte("x")}).Encode()[:50], true)
	f.Add([]byte{0, 4, 'P', 'O', 'S', 'T', 0, 0, 1, '%'}, true)
	f.Add([]byte{1, 0, 32, 0, 1, 0, 1}, false)
	f.Fuzz(func(t *testing.T, message []byte, sealed bool) {
		if len(message) > 1<<10 {
			return
		}
		if !sealed {
			if w := carried(h, bytes.NewReader(message)); w.Code != http.StatusBadRequest {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			return
		}
		if out := sent(t, h, config, message); out.Status < 200 || out.Status > 599 {
			t.Errorf("%+v", out)
		}
	})
}
