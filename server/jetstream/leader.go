package jetstream

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hushgrad/hushgrad/server"
)

// lead runs the leader's server until ctx ends or the state is another leader's.
func (c *Cluster) lead(ctx context.Context, m Member, shown *figures) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	kept, err := c.openState(ctx, func(err error) { stop(err) })
	if err != nil {
		return ignoreEnd(ctx, err)
	}
	shards := newCounters(c, m.Seal, kept.confirm)
	cfg := m.Server
	cfg.Journal, cfg.Seal, cfg.Counters = kept, m.Seal, shards
	registered := &registerer{Registerer: cfg.Metrics}
	defer registered.forget()
	if cfg.Metrics != nil {
		cfg.Metrics = registered
	}
	srv, err := server.New(cfg)
	if err != nil {
		return ignoreEnd(ctx, err)
	}
	defer srv.Close()
	listeners, err := m.Listen()
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	go shards.watch(ctx)
	if m.Led != nil {
		m.Led(srv)
		defer m.Led(nil)
	}
	shown.leads.Store(true)
	defer shown.leads.Store(false)
	c.cfg.Logger.Info("this member leads")
	if err := srv.Serve(ctx, listeners); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// registerer registers the figures of one server, which are gone when it is.
type registerer struct {
	prometheus.Registerer
	registered []prometheus.Collector
}

// Register implements prometheus.Registerer.
func (r *registerer) Register(c prometheus.Collector) error {
	err := r.Registerer.Register(c)
	if err == nil {
		r.registered = append(r.registered, c)
	}
	return err
}

func (r *registerer) forget() {
	for _, c := range r.registered {
		r.Unregister(c)
	}
}
