package dashboard

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// source is an overview that a test changes.
type source struct {
	mu sync.Mutex
	o  overview.Overview
}

func (s *source) Overview() overview.Overview {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o
}

func (s *source) change(f func(*overview.Overview)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.o)
}

// get answers a request for a page of a dashboard.
func get(d http.Handler, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:7122"+path, nil)
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

// state asks a dashboard for its state.
func state(t *testing.T, d http.Handler) State {
	t.Helper()
	var s State
	if w := get(d, "/state.json"); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	} else if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// until asks for the state until ok is true of it.
func until(t *testing.T, d http.Handler, what string, ok func(State) bool) State {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		s := state(t, d)
		if ok(s) {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("%s: never; the state is %+v", what, s)
		}
	}
}

// events reads the states of a stream of server-sent events.
type events struct {
	lines *bufio.Scanner
	ended bool // the stream has said that the dashboard ends
}

func newEvents(body io.Reader) *events {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	return &events{lines: lines}
}

// next returns the next state, and io.EOF at the end.
func (e *events) next() (s State, err error) {
	for e.lines.Scan() {
		if e.ended = e.ended || e.lines.Text() == "event: end"; e.ended {
			continue
		}
		if data, ok := strings.CutPrefix(e.lines.Text(), "data: "); ok {
			return s, json.Unmarshal([]byte(data), &s)
		}
	}
	return s, errors.Join(io.EOF, e.lines.Err())
}

func cocoRound(id string) fl.Round {
	return fl.Round{
		ID: id, Mechanism: "coco", Dim: 20, Scale: 0.5, Epsilon: 2, MinReports: 100,
		Params: fl.Params{"sparsity": fl.Int(4)},
	}
}

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "16") // parallel tests wait for a state. A value on the command line is read later
	os.Exit(m.Run())
}
