package rivals_test

import (
	"context"
	"log/slog"
	"net"
	"reflect"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

// serve runs a parameter server until the test ends, and returns a connection to it.
func serve(t *testing.T) *grpc.ClientConn {
	t.Helper()
	srv, err := server.New(server.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, server.Listeners{Clients: listener}) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// The stock server and the stock client run rounds of the rivals. What the operator reads is what an aggregator
// beside the clients estimates, in every column.
func TestTheStockServerRunsRivals(t *testing.T) {
	conn := serve(t)
	operator := client.NewOperator(conn)
	c, err := client.New(conn, client.Options{Policy: fl.Policy{MaxEpsilon: 2, MinReports: 10}})
	if err != nil {
		t.Fatal(err)
	}
	for name := range params {
		r := round(name)
		r.ID, r.Columns = name, fl.Columns(name)
		if _, err := operator.OpenRound(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		joined, err := c.Join(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		all := threePairs(t, joined.Mechanism(), 50)
		if _, err := joined.Submit(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		if err := operator.CloseRound(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		got, err := operator.Estimate(t.Context(), name, false)
		if err != nil {
			t.Fatal(err)
		}
		agg := joined.Mechanism().NewAggregator()
		if err := fl.AddBatch(joined.Mechanism(), agg, all); err != nil {
			t.Fatal(err)
		}
		want, err := agg.Estimate()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the server estimates %+v, a local aggregator %+v, %v", name, got, want, err)
		}
	}
}
