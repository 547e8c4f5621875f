package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/internal/connlimit"
	"github.com/hushgrad/hushgrad/internal/tlsfile"
)

// monitoring are the flags of commands that say how they are: metrics for Prometheus, and
// whether they live and are ready.
type monitoring struct {
	address string
	readers callers
}

func (m *monitoring) bind(f *flag.FlagSet) {
	f.StringVar(&m.address, "metrics-listen", "", "`address` for HTTP with /metrics, /healthz and /readyz: a loopback address, or --metrics-ca must be given; \"\" is none")
	m.readers.bind(f, "metrics")
}

func (m *monitoring) validate(l listening) error {
	if m.address == "" {
		return m.readers.unused()
	}
	return m.readers.validate(l, m.address)
}

// registry returns a registry with the figures of the process.
func (m *monitoring) registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector())
	return r
}

// maxReaders bounds the connections to the monitor. One more takes the place of an idle one.
const maxReaders = 64

// monitor is what a process says of itself.
type monitor struct {
	listener net.Listener
	server   *http.Server
	logger   *slog.Logger
}

// listen opens the listener, nil for none. ready says in words what is wrong.
func (m *monitoring) listen(figures *prometheus.Registry, ready func() error, own *tlsfile.Certificate, logger *slog.Logger) (*monitor, error) {
	if m.address == "" {
		return nil, nil
	}
	figures.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "hushgrad_ready", Help: "1 while the process takes what it is there for, and 0 where /readyz says what is missing: room on the disk, a valid certificate, or the answer of a log that is followed.",
	}, func() float64 {
		if ready() != nil {
			return 0
		}
		return 1
	}))
	if own != nil {
		figures.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "hushgrad_certificate_expiry_timestamp_seconds", Help: "When the certificate that the process shows ends, in Unix time. It is read anew when its file changes.",
		}, func() float64 { return float64(own.Expires().Unix()) }))
	}
	var security *tls.Config
	if m.readers.ca != "" {
		var err error
		if security, err = m.readers.config(own, logger); err != nil {
			return nil, err
		}
	}
	l, err := listenAt("--metrics-listen", m.address)
	if err != nil {
		return nil, err
	}
	if security != nil {
		l = tls.NewListener(l, security)
	}
	s := &http.Server{
		Handler: pages(figures, ready, logger), ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
	connlimit.Set(s, maxReaders)
	return &monitor{listener: l, logger: logger, server: s}, nil
}

// pages are the pages of the monitor.
func pages(figures prometheus.Gatherer, ready func() error, logger *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(figures, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn), MaxRequestsInFlight: 4, Timeout: 20 * time.Second,
	}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "alive") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := ready(); err != nil {
			http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	return mux
}

// serve answers until close. On nil it does nothing. What it cannot do does not stop the
// server, which has its own health service.
func (m *monitor) serve() {
	if m == nil {
		return
	}
	m.logger.Info("monitoring", "address", m.listener.Addr().String())
	if err := m.server.Serve(m.listener); !errors.Is(err, http.ErrServerClosed) {
		m.logger.Error("monitoring has ended", "error", err)
	}
}

// close ends what serve does.
func (m *monitor) close() {
	if m != nil {
		_ = errors.Join(m.server.Close(), m.listener.Close()) // nothing is lost
	}
}
