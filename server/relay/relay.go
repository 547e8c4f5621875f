package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/hushgrad/hushgrad/internal/connlimit"
	"github.com/hushgrad/hushgrad/internal/ohttp"
)

// Relay carries requests to a gateway. It is safe for concurrent use.
type Relay struct {
	cfg     Config
	gateway *http.Client
	room    *semaphore.Weighted
	pace    *rate.Limiter
	said    rate.Sometimes // of the gateway, in the log
	metrics *metrics
}

// New returns a relay. The error is a *fl.ParamError that names a setting.
func New(c Config) (*Relay, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	m, err := newMetrics(c.Metrics)
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	transport := &http.Transport{
		TLSClientConfig: c.GatewaySecurity, ForceAttemptHTTP2: true, DisableCompression: true,
		MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 16 << 10,
	}
	return &Relay{
		cfg: c, metrics: m, room: semaphore.NewWeighted(c.MaxInFlightBytes), pace: rate.NewLimiter(rate.Limit(c.MaxPerSecond), c.MaxPerSecond),
		said: rate.Sometimes{First: 1, Interval: 10 * time.Second},
		gateway: &http.Client{
			Transport: transport, Timeout: c.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Serve carries requests that come to a listener, which it closes, until ctx ends. Then it lets requests in progress finish
// for Config.ShutdownTimeout and returns nil.
func (r *Relay) Serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{
		Handler: http.HandlerFunc(r.serve), TLSConfig: r.cfg.Security,
		ReadTimeout: r.cfg.Timeout, WriteTimeout: 3 * r.cfg.Timeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: 32, MaxReceiveBufferPerStream: readStep, MaxReceiveBufferPerConnection: 4 * readStep},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // its lines have addresses
	}
	connlimit.Set(s, r.cfg.MaxConnections)
	r.cfg.Logger.Info("serving", "address", l.Addr().String(), "listener", "relay", "gateway", r.cfg.Gateway)
	stopped := make(chan struct{})
	served, end := context.WithCancel(ctx)
	go func() {
		defer close(stopped)
		<-served.Done()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.ShutdownTimeout)
		defer cancel()
		_ = errors.Join(s.Shutdown(last), s.Close()) // a client whose request is lost sends it again
		r.gateway.CloseIdleConnections()
	}()
	var err error
	if r.cfg.Security != nil {
		err = s.ServeTLS(l, "", "")
	} else {
		err = s.Serve(l)
	}
	end()
	<-stopped
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("relay: %s: %w", l.Addr(), err)
}

// serve carries one request.
func (r *Relay) serve(w http.ResponseWriter, in *http.Request) {
	came := time.Now()
	w.Header().Set("Cache-Control", "no-store")
	result := r.carry(w, in)
	if r.cfg.Carried != nil {
		r.cfg.Carried(came, result)
	}
	r.metrics.requests.WithLabelValues(result).Inc()
}

// refuse answers a request that is not carried.
func refuse(w http.ResponseWriter, status int, text string) string {
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, text, status)
	return refused
}

// carry answers a request and returns what became of it. All of a request is here before the gateway hears of it, so that
// the pace of a client's connection does not show there.
func (r *Relay) carry(w http.ResponseWriter, in *http.Request) (result string) {
	most := int64(r.cfg.MaxMessageBytes + ohttp.Overhead)
	switch {
	case in.Method != http.MethodPost:
		return refuse(w, http.StatusMethodNotAllowed, "the method must be POST")
	case in.Header.Get("Content-Type") != ohttp.RequestType:
		return refuse(w, http.StatusUnsupportedMediaType, "the Content-Type must be "+ohttp.RequestType)
	case in.ContentLength > most:
		return refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the message must have at most %d bytes before its encryption", r.cfg.MaxMessageBytes))
	case !r.pace.Allow():
		refuse(w, http.StatusTooManyRequests, "too many requests: try again")
		return limited
	}
	message, release, err := r.read(in.Body, most)
	defer release()
	switch {
	case errors.Is(err, errLong):
		return refuse(w, http.StatusRequestEntityTooLarge, err.Error())
	case errors.Is(err, errRoom):
		refuse(w, http.StatusServiceUnavailable, "no room: try again")
		return limited
	case err != nil:
		return refuse(w, http.StatusBadRequest, "the message must be there as a whole")
	}
	status, kind, answer, release, err := r.ask(in.Context(), message)
	defer release()
	if in.Context().Err() != nil {
		return refused // the client is gone
	}
	if err != nil {
		r.said.Do(func() {
			r.cfg.Logger.Warn("the gateway does not answer as one", "gateway", r.cfg.Gateway, "error", err)
		})
		refuse(w, http.StatusBadGateway, "the gateway does not answer")
		return failed
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(answer) // a client that is gone sends its request again
	return carried
}

var (
	errLong = errors.New("the message is too long")
	errRoom = errors.New("no room for the message")
)

// readStep is how much is read before there has to be room for more.
const readStep = 64 << 10

// read reads a message of at most so many bytes. It takes memory, and room, for what has come, and not for what is promised.
// release gives the room back, also after an error.
func (r *Relay) read(from io.Reader, most int64) (message []byte, release func(), err error) {
	var buffer bytes.Buffer
	var taken int64
	release = func() { r.room.Release(taken) }
	for {
		if !r.room.TryAcquire(readStep) {
			return nil, release, errRoom
		}
		taken += readStep
		_, err := io.CopyN(&buffer, from, readStep)
		switch {
		case int64(buffer.Len()) > most:
			return nil, release, errLong
		case errors.Is(err, io.EOF):
			return buffer.Bytes(), release, nil
		case err != nil:
			return nil, release, err
		}
	}
}

// ask sends a message to the gateway. Nothing else of the client's request goes with it. release is as of read.
func (r *Relay) ask(ctx context.Context, message []byte) (status int, kind string, answer []byte, release func(), err error) {
	release = func() {}
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, r.cfg.Gateway, bytes.NewReader(message))
	if err != nil {
		return 0, "", nil, release, err
	}
	out.Header = http.Header{"Content-Type": {ohttp.RequestType}, "User-Agent": {""}} // "" is none
	resp, err := r.gateway.Do(out)
	if err != nil {
		return 0, "", nil, release, err
	}
	defer resp.Body.Close()
	status, kind = resp.StatusCode, resp.Header.Get("Content-Type")
	most := int64(r.cfg.MaxMessageBytes + ohttp.Overhead)
	switch {
	case status == http.StatusOK && kind == ohttp.ResponseType:
	case status < 400 || status >= 500:
		return 0, "", nil, release, fmt.Errorf("status %d with Content-Type %q", status, kind)
	case kind != ohttp.ProblemType:
		return status, "text/plain; charset=utf-8", []byte("the gateway has refused the message\n"), release, nil
	default:
		most = 1 << 10
	}
	answer, release, err = r.read(resp.Body, most)
	return status, kind, answer, release, err
}
