// Package servertest runs a parameter server in memory, for examples and tests.
//
// It is to package server what net/http/httptest is to net/http: real gRPC calls without a
// port. Use it to test code that talks to a parameter server, or a mechanism of your own.
// Start with [Start].
package servertest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

// Server is a running server with a connection to it. It is safe for concurrent use.
type Server struct {
	conn       *grpc.ClientConn
	parameters *server.Server // nil after StartGRPC
	close      func() error
}

// Start runs a parameter server that offers both services, for clients and for the
// operator. Without cfg.Logger it logs nothing. Credentials in cfg are not used: nothing
// leaves the process.
func Start(cfg server.Config) (*Server, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Credentials = nil
	srv, err := server.New(cfg)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	running, err := start(stop, func(l net.Listener) error { return srv.Serve(ctx, server.Listeners{Clients: l}) })
	if err != nil {
		return nil, err
	}
	running.parameters = srv
	return running, nil
}

// StartGRPC runs a gRPC server with the services that are registered on it. Use it for a
// parameter server with interceptors of your own, or for a fake one.
func StartGRPC(g *grpc.Server) (*Server, error) {
	return start(g.Stop, func(l net.Listener) error {
		if err := g.Serve(l); !errors.Is(err, grpc.ErrServerStopped) { // stopped before it began
			return err
		}
		return nil
	})
}

// start runs serve on a listener in memory until stop is called.
func start(stop func(), serve func(net.Listener) error) (*Server, error) {
	listener := bufconn.Listen(1 << 20)
	conn, err := grpc.NewClient("passthrough:///servertest",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		stop()
		return nil, err
	}
	served := make(chan error, 1)
	go func() { served <- serve(listener) }()
	return &Server{conn: conn, close: sync.OnceValue(func() error {
		hungUp := conn.Close()
		stop()
		if err := <-served; err != nil {
			return err
		}
		return hungUp
	})}, nil
}

// Conn returns the connection to the server. Close closes it.
func (s *Server) Conn() *grpc.ClientConn { return s.conn }

// Parameters returns the parameter server. After StartGRPC, which has none, it is nil.
func (s *Server) Parameters() *server.Server { return s.parameters }

// Operator returns an operator of the server.
func (s *Server) Operator() *client.Operator { return client.NewOperator(s.conn) }

// Client returns a client with the given policy. For other options call client.New with
// Conn.
func (s *Server) Client(policy fl.Policy) (*client.Client, error) {
	return client.New(s.conn, client.Options{Policy: policy})
}

// Close ends the calls in progress, stops the server and waits until it has stopped. It
// returns what the server returned. Later calls return the same.
func (s *Server) Close() error { return s.close() }
