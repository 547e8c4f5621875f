// Package connlimit bounds the connections of an HTTP server. One too many takes the place of an old one, so
// that the first comers lock nobody out. Use it for pages that few read, such as metrics and a dashboard.
// Start with [Set].
//
// netutil.LimitListener of golang.org/x/net lets the new connection wait instead: as many idle connections
// as the limit allows keep everybody else away.
package connlimit

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// Set bounds the connections of a server, which has no ConnState yet. When one too many comes, a connection
// without a request is closed, or else one with a request, and of these the one that has been so for
// longest.
func Set(s *http.Server, most int) {
	l := &limiter{most: most, conns: map[net.Conn]since{}}
	s.ConnState = l.note
}

// limiter knows the connections of a server.
type limiter struct {
	most int

	mu    sync.Mutex
	conns map[net.Conn]since
}

// since is what a connection does, and since when.
type since struct {
	state http.ConnState
	at    time.Time
}

// note is an http.Server's ConnState.
func (l *limiter) note(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(l.conns, c)
		return
	case http.StateNew:
		if len(l.conns) >= l.most {
			l.makeRoom()
		}
	default:
		if _, there := l.conns[c]; !there {
			return // it was closed to make room
		}
	}
	l.conns[c] = since{state, time.Now()}
}

// makeRoom closes a connection. The caller holds l.mu.
func (l *limiter) makeRoom() {
	var out net.Conn
	var least since
	for c, s := range l.conns {
		busy, leastBusy := s.state == http.StateActive, least.state == http.StateActive
		if out == nil || leastBusy && !busy || leastBusy == busy && s.at.Before(least.at) {
			out, least = c, s
		}
	}
	delete(l.conns, out)
	if secure, ok := out.(*tls.Conn); ok {
		out = secure.NetConn() // whose end is not announced to a peer that may not read
	}
	_ = out.Close() // the server notices it
}
