package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// admission are the flags of an issuer.
type admission struct{ bearers, operator string }

func (a *admission) bind(f *flag.FlagSet) {
	f.StringVar(&a.bearers, "bearers", "", "`file` with the clients of an issuer")
	f.StringVar(&a.operator, "operator", "", "`address` of an issuer for its operator")
}

// serve is the issuer that is measured. It keeps metrics, as hushgrad issue does.
func (a *admission) serve(ctx context.Context, data string, out io.Writer) (failed error) {
	logger := slog.New(slog.DiscardHandler)
	kept, err := disk.Open(data, disk.Options{Logger: logger})
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, kept.Close()) }()
	clients, err := server.AdmitBearers(a.bearers, logger)
	if err != nil {
		return err
	}
	i, err := server.NewIssuer(server.IssuerConfig{Journal: kept, Admit: clients, Logger: logger, Metrics: prometheus.NewRegistry()})
	if err != nil {
		return err
	}
	defer i.Close()
	operator, err := net.Listen("tcp", a.operator)
	if err != nil {
		return err
	}
	l, err := listen(out)
	if err != nil {
		return errors.Join(err, operator.Close())
	}
	return i.Serve(ctx, server.IssuerListeners{Clients: l, Operator: operator})
}
