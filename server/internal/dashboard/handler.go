package dashboard

import (
	"embed"
	"io/fs"
	"net"
	"net/http"
	"path"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

//go:embed static
var static embed.FS

// security are headers of all answers. The page loads what is on this server and nothing else, and
// no other site may show it or read it.
var security = map[string]string{
	"Content-Security-Policy":      "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Cache-Control":                "no-store",
}

var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// handler returns all pages, behind the checks of a request.
func (d *Dashboard) handler() http.Handler {
	mux := http.NewServeMux()
	_ = fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error { // an embedded file system has no errors
		kind := contentTypes[path.Ext(name)]
		if err != nil || entry.IsDir() || kind == "" {
			return err
		}
		content, err := static.ReadFile(name)
		at := "/" + name
		if name == "static/index.html" {
			at = "/{$}"
		}
		mux.HandleFunc("GET "+at, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(content)
		})
		return err
	})
	mux.HandleFunc("GET /state.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(d.feed.current())
	})
	mux.HandleFunc("GET /events", d.events)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range security {
			w.Header().Set(name, value)
		}
		if !d.config.Public && !local(r.Host) {
			http.Error(w, fl.Invalid("Host", r.Host, "must be localhost or a loopback address").Error(), http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// local reports whether a Host header names this machine. A site whose name leads to 127.0.0.1 has
// browsers send its own name.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// events sends states until the reader is gone or the dashboard ends.
func (d *Dashboard) events(w http.ResponseWriter, r *http.Request) {
	select {
	case d.streams <- struct{}{}:
		defer func() { <-d.streams }()
	default:
		w.Header().Set("Retry-After", "10")
		http.Error(w, fl.Invalid("streams", maxStreams+1, "must be at most %d at a time: /state.json has the same", maxStreams).Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	states, leave := d.feed.join()
	defer leave()
	to := http.NewResponseController(w)
	send := func(parts ...[]byte) bool {
		err := to.SetWriteDeadline(time.Now().Add(writeTimeout))
		for _, part := range parts {
			if err == nil {
				_, err = w.Write(part)
			}
		}
		return err == nil && to.Flush() == nil
	}
	if !send([]byte("retry: 2000\n\n")) {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		ok := true
		select {
		case state, more := <-states:
			if !more { // the dashboard has ended: without this event it would look like a broken connection
				send([]byte("event: end\ndata: {}\n\n"))
				return
			}
			ok = send([]byte("event: state\ndata: "), state, []byte("\n\n"))
		case <-beat.C:
			ok = send([]byte(": still here\n\n"))
		case <-r.Context().Done():
			return
		}
		if !ok {
			return
		}
	}
}
