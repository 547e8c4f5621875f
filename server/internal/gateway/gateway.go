// Package gateway answers one service for clients over HTTP: Connect, gRPC-Web and JSON, over HTTP/1.1
// and h2. Use it for callers without gRPC, such as browsers and curl. Start with [New] and
// [Gateway.Serve].
//
// Every call goes through a gRPC server with the guard of the listener. It meets the same limits,
// deadlines and refusals as a call over gRPC. Only the service of the [Config] can be reached.
package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	connectcors "connectrpc.com/cors"
	"connectrpc.com/vanguard"
	"github.com/rs/cors"
	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/server/internal/endpoint"
	"github.com/hushgrad/hushgrad/server/internal/guard"
)

// Config holds the settings of a Gateway. All fields are required but the last five.
type Config struct {
	// Endpoint are the settings of the gRPC server behind it. Its guard is the listener's.
	Endpoint endpoint.Config
	// Register adds the only service that is reached, of this full name.
	Register func(grpc.ServiceRegistrar)
	Service  string
	// MessageBytes bounds one message in the form that gRPC has.
	MessageBytes int
	// Security is the transport security, nil for none.
	Security *tls.Config
	// Origins are those whose pages may call from a browser, such as https://example.org, as
	// limits.CheckOrigins takes them. Default: none but the listener's own.
	Origins []string
	// Log answers requests below /log/, without that prefix. Default: nothing does.
	Log http.Handler
	// OHTTPKeys are the private keys of a gateway of Oblivious HTTP, as hushgrad relay key writes them: the same service is
	// then reached through a relay, by the same bounds. Default: it is not.
	OHTTPKeys []string
	// Headers are what those pages may send beside the headers of the protocols, such as
	// Authorization. Default: none.
	Headers []string
}

// Gateway answers calls over HTTP.
type Gateway struct {
	config  Config
	handler http.Handler
	calls   *endpoint.Endpoint
}

// New returns a gateway.
func New(c Config) (*Gateway, error) {
	calls := endpoint.New(c.Endpoint)
	c.Register(calls)
	// JSON has bytes in base64, 4 characters for 3, and names of fields.
	buffer := uint32(c.MessageBytes/3*4 + 4<<10)
	transcoder, err := vanguard.NewTranscoder(
		[]*vanguard.Service{vanguard.NewService(c.Service, calls)},
		vanguard.WithDefaultServiceOptions(
			vanguard.WithTargetProtocols(vanguard.ProtocolGRPC), vanguard.WithTargetCodecs(vanguard.CodecProto),
			vanguard.WithNoTargetCompression(), vanguard.WithMaxMessageBufferBytes(buffer),
		),
		vanguard.WithCodec(strictJSON))
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	direct := checked(transcoder, int64(buffer))
	answer := shared(direct, c.Origins, c.Headers)
	keys, err := ohttp.ParseKeys("OHTTPKeys", c.OHTTPKeys)
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	if len(keys) > 0 {
		answer = withOblivious(keys, int(buffer), direct, answer)
	}
	if c.Log != nil {
		answer = withLog(c.Log, answer)
	}
	handler := c.Endpoint.Guard.Handler(answer)
	return &Gateway{config: c, calls: calls, handler: handler}, nil
}

// Serve answers calls on a listener, which it closes, until ctx ends. Then it lets calls in progress
// finish for Config.Endpoint.StopTimeout and returns nil.
func (g *Gateway) Serve(ctx context.Context, l net.Listener) error {
	defer g.calls.Stop()
	logger := g.config.Endpoint.Logger
	s := &http.Server{Handler: g.handler, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug)}
	logger.Info("serving HTTP", "address", l.Addr().String(), "tls", g.config.Security != nil, "origins", g.config.Origins)
	stopped := make(chan struct{})
	served, end := context.WithCancel(ctx)
	go func() {
		defer close(stopped)
		<-served.Done()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(g.config.Endpoint.StopTimeout, time.Millisecond))
		defer cancel()
		_ = errors.Join(s.Shutdown(last), s.Close()) // what is in progress then is UNAVAILABLE
	}()
	err := g.config.Endpoint.Guard.ServeHTTP(s, l, g.config.Security)
	end()
	<-stopped
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("%s: %w", l.Addr(), err)
}

// logPath is where the files of a log are.
const logPath = "/log/"

// withLog passes requests below logPath to a log, and others on.
func withLog(files, next http.Handler) http.Handler {
	files = http.StripPrefix(logPath, guard.Whole(files))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, logPath) {
			files.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// preflight is how long a browser may remember what it may send.
const preflight = 10 * time.Minute

// shared lets pages of these origins call, with these headers beside the protocols' headers. Without
// origins browsers let none but the listener's own.
func shared(next http.Handler, origins, headers []string) http.Handler {
	if len(origins) == 0 {
		return next
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins, AllowedMethods: []string{http.MethodPost}, AllowedHeaders: append(connectcors.AllowedHeaders(), headers...),
		ExposedHeaders: connectcors.ExposedHeaders(), MaxAge: int(preflight.Seconds()),
	}).Handler(next)
}
