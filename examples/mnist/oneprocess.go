package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

// oneProcess is a server in this process. It sees who sends which report.
type oneProcess struct {
	policy    fl.Policy // of the clients
	listeners server.Listeners
	closers   []func() error
}

func (o *oneProcess) start(context.Context) error {
	srv, err := server.New(server.Config{Logger: slog.New(slog.DiscardHandler)})
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
	return conn, client.Options{Policy: o.policy}, err
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
