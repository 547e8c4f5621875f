package guard

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// transcodedBytes is what a byte of a body counts, beside itself, until the message that it is
	// part of is complete: what makes gRPC messages of bodies has it in a buffer, decoded, and
	// encoded again.
	transcodedBytes = 4
	// lingerTimeout is how long the rest of a body is waited for that nobody reads.
	lingerTimeout = time.Second
)

// ServeHTTP answers HTTP/1.1 and h2 on the guard's listener, which it closes, until the server is
// shut down. It sets what bounds connections. security is nil for none. The handler is one of
// [Guard.Handler].
func (g *Guard) ServeHTTP(s *http.Server, l net.Listener, security *tls.Config) error {
	s.ReadHeaderTimeout, s.IdleTimeout, s.MaxHeaderBytes = handshakeTimeout, g.limits.Idle, headerBytes
	s.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: streamsPerConnection, MaxReceiveBufferPerStream: streamWindow, MaxReceiveBufferPerConnection: connWindow,
		SendPingTimeout: time.Minute, PingTimeout: 20 * time.Second, WriteByteTimeout: g.limits.Progress,
	}
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	s.ConnContext = func(ctx context.Context, raw net.Conn) context.Context {
		if secure, ok := raw.(*tls.Conn); ok {
			raw = secure.NetConn()
		}
		return context.WithValue(ctx, connKey{}, raw)
	}
	if security == nil {
		s.Protocols.SetUnencryptedHTTP2(true)
		return s.Serve(g.Listener(l))
	}
	s.Protocols.SetHTTP2(true)
	s.TLSConfig = withProtocols(security)
	return s.ServeTLS(g.Listener(l), "", "")
}

// withProtocols returns settings whose GetConfigForClient offers h2, too. net/http adds the protocols to
// the other settings alone.
func withProtocols(security *tls.Config) *tls.Config {
	find := security.GetConfigForClient
	if find == nil {
		return security
	}
	security = security.Clone()
	security.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		found, err := find(hello)
		if found != nil {
			found = found.Clone()
			found.NextProtos = []string{"h2", "http/1.1"}
		}
		return found, err
	}
	return security
}

// Handler returns a handler whose requests are calls that the guard watches, from [Guard.ServeHTTP].
// Next passes them to the ServeHTTP of a gRPC server with the guard's options.
func (g *Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, err := g.begin(r.Context(), nil)
		c := callOf(ctx)
		if err != nil || c == nil {
			http.Error(w, "not a connection of this listener", http.StatusInternalServerError)
			return
		}
		defer c.cancel(nil)
		if age := g.limits.Age; age > 0 {
			if time.Since(c.conn.born) > age {
				w.Header().Set("Connection", "close")
			}
			end := time.AfterFunc(age+g.limits.Grace, c.stall)
			defer end.Stop()
		}
		control := http.NewResponseController(w)
		r = r.WithContext(ctx)
		in := &body{ReadCloser: r.Body, control: control, call: c, http1: r.ProtoMajor == 1}
		r.Body, c.over = in, in.linger
		in.ended = in.ReadCloser == http.NoBody
		defer in.end()
		next.ServeHTTP(&answer{w, control, in}, r)
	})
}

// Whole passes on requests to something else than a gRPC server, below [Guard.Handler]. Each is worth as
// much as a complete message.
func Whole(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := callOf(r.Context()); c != nil {
			c.received.Store(true)
			c.conn.complete(0)
		}
		next.ServeHTTP(w, r)
	})
}

// body is the body of a request. What was read of it is held until a message is complete.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	call    *call
	http1   bool

	mu    sync.Mutex
	ended bool // all of it was read, or its request is over
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.call.body.Add((1 + transcodedBytes) * int64(n))
	b.call.conn.take(transcodedBytes * int64(n))
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.ended = true
	}
	return n, err
}

// linger ends a Read in progress soon: who closes a body waits for it.
func (b *body) linger() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		_ = b.control.SetReadDeadline(time.Now().Add(lingerTimeout))
	}
}

// end is linger for the last time: gRPC may end its call after the request, whose connection has
// another one then.
func (b *body) end() {
	b.linger()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.linger()
	return b.ReadCloser.Close()
}

// answer is the answer to a request. Its peer has to take what is written in time.
type answer struct {
	http.ResponseWriter
	control *http.ResponseController
	body    *body
}

// begin goes before all that writes. Before its first bytes net/http waits for the rest of the body, over
// HTTP/1.1, and closes the connection afterwards if that does not come.
func (a *answer) begin() {
	if a.body.http1 {
		a.body.linger()
	}
	_ = a.control.SetWriteDeadline(time.Now().Add(a.body.call.guard.limits.Progress))
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.begin(); a.ResponseWriter.WriteHeader(status) }

// Write implements io.Writer.
func (a *answer) Write(p []byte) (int, error) { a.begin(); return a.ResponseWriter.Write(p) }

// Flush implements http.Flusher, which gRPC asks for. What cannot be sent is an error of the next Write.
func (a *answer) Flush() { a.begin(); _ = a.control.Flush() }

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
