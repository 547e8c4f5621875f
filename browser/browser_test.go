package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// names under which Chromium is installed.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// chromium returns the path of the browser.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("no browser: install Chromium, such as with apt-get install chromium; looked in PATH for %s", strings.Join(names, ", "))
	return ""
}

// start starts a browser with one tab until the test ends.
func start(t *testing.T, more ...chromedp.ExecAllocatorOption) (context.Context, *seen) {
	t.Helper()
	binary := chromium(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(binary), chromedp.Flag("disable-background-networking", true))
	if os.Getuid() == 0 { // Chromium's sandbox refuses to run as root
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(options, more...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	s := &seen{urls: map[network.RequestID]string{}}
	if err := chromedp.Listen(ctx, s.event); err != nil {
		t.Fatalf("the browser %s does not start: %v", binary, err)
	}
	ctx, cancel = context.WithTimeout(ctx, 8*time.Minute)
	t.Cleanup(cancel)
	return ctx, s
}

// seen is what the browser reports while a page is open.
type seen struct {
	mu      sync.Mutex
	urls    map[network.RequestID]string
	bytes   float64 // of the page and what it loads, as transferred
	foreign []string
	errors  []string
	sent    []sent // requests that are no GET, and GETs with a query
}

// sent is a request that carries something, with the headers that the page gave it.
type sent struct{ method, url, headers, body string }

// ours are where pages of tests may ask.
var ours = regexp.MustCompile(`^(https?://127\.0\.0\.1:|data:|about:blank$)`)

func (s *seen) event(event any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		s.urls[e.RequestID] = e.Request.URL
		if !ours.MatchString(e.Request.URL) {
			s.foreign = append(s.foreign, e.Request.URL)
		}
		if r := e.Request; r.Method != "GET" || strings.Contains(r.URL, "?") {
			one := sent{method: r.Method, url: r.URL, headers: fmt.Sprintf("%s", r.Headers)}
			for _, entry := range r.PostDataEntries {
				one.body += string(entry.Bytes)
			}
			s.sent = append(s.sent, one)
		}
	case *network.EventLoadingFinished:
		if !strings.HasSuffix(s.urls[e.RequestID], "/events") {
			s.bytes += e.EncodedDataLength
		}
	case *runtime.EventExceptionThrown:
		s.errors = append(s.errors, e.ExceptionDetails.Text+" "+fmt.Sprint(e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			s.errors = append(s.errors, fmt.Sprint("console: ", e.Args))
		}
	case *log.EventEntryAdded:
		// When the run has ended the stream breaks off, and Chromium says so.
		ended := e.Entry.Source == log.EntrySourceNetwork && strings.HasSuffix(e.Entry.URL, "/events") && strings.Contains(e.Entry.Text, "net::ERR_")
		if e.Entry.Level == log.EntryLevelError && !ended {
			s.errors = append(s.errors, fmt.Sprintf("log: %s %s", e.Entry.Text, e.Entry.URL))
		}
	}
}

// requests returns the requests so far that carry something, and forgets them.
func (s *seen) requests() []sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.sent
	s.sent = nil
	return all
}

// check reports what went wrong in the browser, and a page that has not from least to most kB.
func (s *seen) check(t *testing.T, least, most float64) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errors) > 0 {
		t.Errorf("errors in the browser: %q", s.errors)
	}
	if len(s.foreign) > 0 {
		t.Errorf("the page asks other servers: %q", s.foreign)
	}
	if kB := s.bytes / 1000; kB < least || kB > most {
		t.Errorf("the page has %.0f kB, want %v to %v", kB, least, most)
	} else {
		t.Logf("the page has %.0f kB", kB)
	}
}
