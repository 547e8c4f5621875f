package main

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"sync"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/internal/tlsfile"
	"github.com/hushgrad/hushgrad/server"
)

// dashboardFlags are the flags of a server that can be watched in a browser.
type dashboardFlags struct{ address string }

func (d *dashboardFlags) bind(f *flag.FlagSet) {
	f.StringVar(&d.address, "dashboard", "", "`address` for a page in the browser that shows rounds, promises, models and the training, such as 127.0.0.1:7122; there is no login: whoever reaches the address reads it; \"\" is none")
}

func (d *dashboardFlags) validate() error {
	if d.address == "" {
		return nil
	}
	return checkAddress("--dashboard", d.address)
}

// listen opens the listener, nil for none. Other machines get TLS where there is a certificate.
func (d *dashboardFlags) listen(own *tlsfile.Certificate, logger *slog.Logger) (net.Listener, error) {
	if d.address == "" {
		return nil, nil
	}
	l, err := listenAt("--dashboard", d.address)
	if err != nil {
		return nil, err
	}
	scheme := "http"
	if !loopback(l.Addr().String()) {
		logger.Warn("the dashboard is not limited to this machine: whoever reaches its address reads it", "address", l.Addr().String(), "tls", own != nil)
		if own != nil {
			scheme = "https"
			config := own.Config()
			config.NextProtos = []string{"http/1.1"}
			l = tls.NewListener(l, config)
		}
	}
	logger.Info("dashboard", "url", scheme+"://"+l.Addr().String()+"/")
	return l, nil
}

// serve shows a server on a listener until stop is called. On nil it does nothing. What the
// dashboard cannot do does not stop the server.
func (d *dashboardFlags) serve(ctx context.Context, l net.Listener, of func() (*server.Server, error), logger *slog.Logger) (stop func()) {
	if l == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.ServeDashboard(ctx, l, of, server.DashboardConfig{Logger: logger}); err != nil {
			logger.Error("the dashboard has ended", "error", err)
		}
	})
	return func() { cancel(); serving.Wait() }
}
