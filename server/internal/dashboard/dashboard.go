package dashboard

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hushgrad/hushgrad/internal/connlimit"
	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// Source is what a dashboard shows: a server.
type Source interface {
	// Overview returns how the server stands. It is called at most every 500 ms.
	Overview() overview.Overview
}

// Config holds the settings of a Dashboard, as DashboardConfig of package server does.
type Config struct {
	// Public says that others than the operator may see the pages. Counts of open rounds and
	// totals are then rounded down, and the page says who can read it. Otherwise requests must name
	// this machine as their host.
	Public bool
	Delta  float64
	Void   string
	Logger *slog.Logger
}

const (
	period         = 500 * time.Millisecond // between two states
	heartbeat      = 15 * time.Second       // of streams where nothing happens
	maxConnections = 64
	maxStreams     = 16
	writeTimeout   = 10 * time.Second
)

// Dashboard answers the requests for its pages. It is safe for concurrent use.
type Dashboard struct {
	config   Config
	pages    http.Handler
	feed     *feed
	promises *promises
	streams  chan struct{} // holds a value for each
	patience time.Duration // at the end, for what all rounds promise together
}

// New returns a dashboard of a source. [Dashboard.Run] must run while it answers requests.
func New(source Source, c Config) *Dashboard {
	c.Delta = cmp.Or(c.Delta, 1e-6)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	known := &promises{delta: c.Delta, void: c.Void, wake: make(chan struct{}, 1), kinds: map[digest]*kind{}}
	d := &Dashboard{config: c, promises: known, streams: make(chan struct{}, maxStreams), patience: 2 * time.Second}
	d.feed = newFeed(source, func(o overview.Overview, rates []Rate) State { return stateOf(o, rates, d.promises, c) })
	d.pages = d.handler()
	return d
}

// ServeHTTP answers a request.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.pages.ServeHTTP(w, r) }

// Run watches the source until ctx ends. Then it sends the last state, with what all rounds promise
// together, and ends all streams.
func (d *Dashboard) Run(ctx context.Context) {
	var working sync.WaitGroup
	working.Go(func() { d.promises.work(ctx) })
	d.feed.run(ctx)
	working.Wait()
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), d.patience)
	defer stop()
	d.feed.end(func(o overview.Overview) { d.promises.compute(last, o) })
}

// Serve answers requests on a listener, which it closes, and runs the dashboard until ctx ends.
func (d *Dashboard) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &http.Server{
		Handler: d, ErrorLog: slog.NewLogLogger(d.config.Logger.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 30 * time.Second,
		MaxHeaderBytes: 8 << 10,
	}
	connlimit.Set(s, maxConnections)
	var running sync.WaitGroup
	running.Go(func() {
		d.Run(ctx)
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer stop()
		_ = errors.Join(s.Shutdown(last), s.Close()) // nothing is lost
	})
	err := s.Serve(l)
	cancel()
	running.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
