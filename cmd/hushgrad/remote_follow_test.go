package main

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/internal/service"
)

// A connection that follows its files shows a renewed certificate, and knows a renewed one, with
// the next handshake.
func TestAFollowedConnectionNeedsNoRestart(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key)
	logger := slog.New(slog.DiscardHandler)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	own, err := (&listening{cert: cert, key: key}).certificate(logger)
	if err != nil {
		t.Fatal(err)
	}
	security, err := (&callers{who: "shuffler", ca: cert, names: "test"}).credentials(own, logger)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := (&remote{server: address, ca: cert, cert: cert, key: key}).follow(logger)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for renewal := range 3 {
		g := grpc.NewServer(grpc.Creds(security))
		served := make(chan error, 1)
		go func() { served <- g.Serve(listener) }()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		var err error
		for again := true; again; again = status.Code(err) == codes.Unavailable && ctx.Err() == nil { // it may not know yet that the old server is gone
			_, err = service.NewRoundsClient(conn).GetRound(ctx, &service.GetRoundRequest{}, grpc.WaitForReady(true))
		}
		cancel()
		if status.Code(err) != codes.Unimplemented { // the server has no services
			t.Errorf("after %d renewals: %v", renewal, err)
		}
		g.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		selfSigned(t, cert, key)
		if listener, err = net.Listen("tcp", address); err != nil {
			t.Fatal(err)
		}
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
}
