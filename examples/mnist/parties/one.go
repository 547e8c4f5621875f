package parties

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

// one is a server in this process, on loopback ports. It sees who sends which report.
type one struct {
	*client.Operator
	policy  fl.Policy
	clients net.Addr // for them
	closers []func() error
}

// openOne starts a server for a run, and its dashboard where it was asked for.
func openOne(run *plan.Run, o Options) (_ Site, err error) {
	s := &one{policy: run.Policy()}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	srv, err := server.New(server.Config{Logger: slog.New(slog.DiscardHandler), KeepRounds: run.Affordable})
	if err != nil {
		return nil, err
	}
	var l server.Listeners
	if l.Clients, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if l.Operator, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, errors.Join(err, l.Clients.Close())
	}
	s.clients = l.Clients.Addr()
	s.background(func(ctx context.Context) error { return srv.Serve(ctx, l) })
	conn, err := s.dial(l.Operator.Addr())
	if err != nil {
		return nil, err
	}
	s.Operator = client.NewOperator(conn)
	if o.Dashboard == "" {
		return s, nil
	}
	page, err := net.Listen("tcp", o.Dashboard)
	if err != nil {
		return nil, fmt.Errorf("--dashboard: %w", err)
	}
	c := server.DashboardConfig{Delta: o.Delta, Logger: slog.New(slog.DiscardHandler)}
	if run.Seed != 0 {
		c.Void = "the seed of this run repeats the noise"
	}
	fmt.Fprintf(o.Log, "dashboard: http://%s/\n", page.Addr())
	s.background(func(ctx context.Context) error {
		return server.ServeDashboard(ctx, page, func() (*server.Server, error) { return srv, nil }, c)
	})
	return s, nil
}

// background serves until Close.
func (s *one) background(serve func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx) }()
	s.closers = append(s.closers, func() error { stop(); return <-ended })
}

func (s *one) dial(to net.Addr) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient(to.String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err == nil {
		s.closers = append(s.closers, conn.Close)
	}
	return conn, err
}

func (s *one) Connect() (*grpc.ClientConn, client.Options, error) {
	conn, err := s.dial(s.clients)
	return conn, client.Options{Policy: s.policy}, err
}

// Admit has all clients take part as one: there are no tokens.
func (s *one) Admit(_ context.Context, joined *client.Participation, _, n int) ([]*client.Participation, error) {
	return slices.Repeat([]*client.Participation{joined}, n), nil
}

// Send sends all reports together.
func (s *one) Send(ctx context.Context, parts []*client.Participation, reports [][]byte, sent func()) (bytes int64, err error) {
	if _, err := parts[0].Submit(ctx, reports); err != nil {
		return 0, err
	}
	for _, report := range reports {
		bytes += int64(len(report))
		sent()
	}
	return bytes, nil
}

func (s *one) Close() (err error) {
	for _, closer := range slices.Backward(s.closers) {
		err = errors.Join(err, closer())
	}
	return err
}
