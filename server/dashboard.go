package server

import (
	"context"
	"log/slog"
	"net"

	"github.com/hushgrad/hushgrad/server/internal/dashboard"
	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// DashboardConfig holds the settings of a dashboard. The zero value of every field means its default.
type DashboardConfig struct {
	// Public says that others than the operator may see the pages although the listener has a
	// loopback address: through a proxy. Default: they may if the address is another one.
	Public bool
	// Delta is the δ at which central ε are stated, in (0, 1). Default 1e-6.
	Delta float64
	// Void says why nothing is promised whatever the rounds say, in words that end a sentence: "the
	// seed of this run repeats the noise". Default: the rounds' promises are shown.
	Void string
	// Logger receives what goes wrong. Default slog.Default().
	Logger *slog.Logger
}

// ServeDashboard shows a server in a browser until ctx ends: its rounds and what they promise, how
// reports come in, models, and the curves of a training run. It closes the listener. of returns the
// server, or why there is none at the moment. docs/dashboard.md says what is shown.
//
// There is no login. On a loopback address whoever can use this machine sees what the operator
// sees: exact counts, also of open rounds. Requests must then name this machine as their host, so
// that no other site can have a browser read the pages. On any other address, and with c.Public, counts
// of open rounds and totals are rounded down as they are for clients, so that nobody sees single
// submissions arrive. Nothing can be changed through these pages, and nothing of a single client is
// there: no report, no address, no key of a batch.
func ServeDashboard(ctx context.Context, l net.Listener, of func() (*Server, error), c DashboardConfig) error {
	settings := dashboard.Config(c)
	tcp, ok := l.Addr().(*net.TCPAddr)
	settings.Public = c.Public || !ok || !tcp.IP.IsLoopback()
	return dashboard.New(watched(of), settings).Serve(ctx, l)
}

// watched is what a dashboard shows.
type watched func() (*Server, error)

// Overview implements dashboard.Source.
func (w watched) Overview() overview.Overview {
	s, err := w()
	if err != nil {
		return overview.Overview{Ready: err}
	}
	return s.overview()
}
