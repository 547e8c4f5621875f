package probe

import (
	"context"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

// senders is the number of clients that send at the same time.
const senders = 2

// ingest sends reports to a server in this process over loopback TCP, as many in a message as the
// client packs.
func (w Work) ingest(ctx context.Context) (map[string]float64, error) {
	s, err := server.New(server.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- s.Serve(running, server.Listeners{Clients: listener}) }()
	rate, err := w.send(ctx, listener.Addr().String())
	stop()
	if ended := <-served; err == nil {
		err = ended
	}
	return map[string]float64{IngestRate: rate}, err
}

// send opens a round at the address and returns the rate of reports until the last acknowledgement.
func (w Work) send(ctx context.Context, address string) (float64, error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	r, err := w.describe()
	if err != nil {
		return 0, err
	}
	if _, err := client.NewOperator(conn).OpenRound(ctx, r); err != nil {
		return 0, err
	}
	var group errgroup.Group
	began := make(chan struct{})
	for range senders {
		c, err := client.New(conn, client.Options{Policy: fl.Policy{MaxEpsilon: w.Epsilon, MinReports: 1}})
		if err != nil {
			return 0, err
		}
		p, err := c.Join(ctx, r.ID)
		if err != nil {
			return 0, err
		}
		reports, err := w.reports(p.Mechanism().(fl.SparseMechanism), w.Reports/senders, w.rng())
		if err != nil {
			return 0, err
		}
		group.Go(func() error {
			<-began
			_, err := p.Submit(ctx, reports)
			return err
		})
	}
	start := time.Now()
	close(began)
	err = group.Wait()
	return float64(w.Reports) / time.Since(start).Seconds(), err
}
