package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/dashboard"
	"github.com/hushgrad/hushgrad/trainer"
)

// oneProcess is a server in this process. It sees who sends which report.
type oneProcess struct {
	run       *plan.Run
	seed      trainer.Seed
	delta     float64
	log       io.Writer
	dashboard string // address, "" for none
	listeners server.Listeners
	closers   []func() error
}

func (o *oneProcess) start(context.Context) error {
	srv, err := server.New(server.Config{Logger: slog.New(slog.DiscardHandler), KeepRounds: o.run.Affordable})
	if err != nil {
		return err
	}
	l := &o.listeners
	if l.Clients, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return err
	}
	if l.Operator, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return errors.Join(err, l.Clients.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, *l) }()
	o.closers = append(o.closers, func() error { stop(); return <-ended })
	return o.show(srv)
}

// show offers the dashboard of the server, where it was asked for.
func (o *oneProcess) show(srv *server.Server) error {
	if o.dashboard == "" {
		return nil
	}
	l, err := net.Listen("tcp", o.dashboard)
	if err != nil {
		return fmt.Errorf("-dashboard: %w", err)
	}
	c := dashboard.Config{Public: dashboard.Public(l.Addr()), Delta: o.delta, Logger: slog.New(slog.DiscardHandler)}
	if o.seed != 0 {
		c.Void = "the seed of this run repeats the noise"
	}
	fmt.Fprintf(o.log, "dashboard: http://%s/\n", l.Addr())
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- dashboard.New(srv, c).Serve(ctx, l) }()
	o.closers = append(o.closers, func() error { stop(); return <-ended })
	return nil
}

func (o *oneProcess) operator() (*client.Operator, error) {
	conn, err := o.dial(o.listeners.Operator)
	if err != nil {
		return nil, err
	}
	return client.NewOperator(conn), nil
}

func (o *oneProcess) connect() (*grpc.ClientConn, client.Options, error) {
	conn, err := o.dial(o.listeners.Clients)
	return conn, client.Options{Policy: o.run.Policy()}, err
}

func (o *oneProcess) dial(to net.Listener) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient(to.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err == nil {
		o.closers = append(o.closers, conn.Close)
	}
	return conn, err
}

func (o *oneProcess) prepare(context.Context, *fl.Round) error { return nil }

// send sends all reports together.
func (o *oneProcess) send(ctx context.Context, part *client.Participation, _ int, reports [][]byte, sent func()) (bytes int64, err error) {
	if _, err := part.Submit(ctx, reports); err != nil {
		return 0, err
	}
	for _, report := range reports {
		bytes += int64(len(report))
		sent()
	}
	return bytes, nil
}

func (o *oneProcess) finish(context.Context, string) error { return nil }

func (o *oneProcess) close() (err error) {
	for _, closer := range slices.Backward(o.closers) {
		err = errors.Join(err, closer())
	}
	return err
}
