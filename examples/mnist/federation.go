package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/trainer"
)

// federation is a running server, its operator and its clients, all in this process and all
// over loopback TCP. It is where trainer.Run gets its means from.
type federation struct {
	run      *plan.Run
	model    *trainer.Model
	clients  *trainer.Clients
	seed     trainer.Seed
	operator *client.Operator
	players  []*player
	bytes    atomic.Int64 // of the reports of this round
	bar      *progress.Bar
	closers  []func() error
}

// player plays many clients, one after the other, over one connection. What they fetch is
// the same for all, so it fetches it once per round, and it sends their reports together.
// The gradients are those that each client would compute alone.
type player struct {
	conn     *grpc.ClientConn
	client   *client.Client
	examples *trainer.Examples
}

// start starts the server and connects everybody.
func (f *federation) start() error {
	srv, err := server.New(server.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	var l server.Listeners
	if l.Clients, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return err
	}
	if l.Operator, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return errors.Join(err, l.Clients.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, l) }()
	f.closers = append(f.closers, func() error { stop(); return <-ended })

	conn, err := f.dial(l.Operator.Addr())
	if err != nil {
		return err
	}
	f.operator = client.NewOperator(conn)
	for range runtime.GOMAXPROCS(0) {
		p := &player{}
		if p.conn, err = f.dial(l.Clients.Addr()); err != nil {
			return err
		}
		if p.client, err = client.New(p.conn, client.Options{Policy: f.run.Policy()}); err != nil {
			return err
		}
		if p.examples, err = f.clients.NewExamples(f.model); err != nil {
			return err
		}
		f.closers, f.players = append(f.closers, p.examples.Close), append(f.players, p)
	}
	return nil
}

func (f *federation) dial(to net.Addr) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient(to.String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err == nil {
		f.closers = append(f.closers, conn.Close)
	}
	return conn, err
}

// Mean holds a round: publish the model, open the round, let the cohort take part, and read
// the estimate of its mean gradient.
func (f *federation) Mean(ctx context.Context, i int, params []float64) (*fl.Estimate, error) {
	var weights bytes.Buffer
	if err := trainer.WriteWeights(&weights, f.model, params); err != nil {
		return nil, err
	}
	if _, err := f.operator.PutModel(ctx, trainer.WeightsFormat, weights.Bytes()); err != nil {
		return nil, err
	}
	round, err := f.operator.OpenRound(ctx, f.run.Round(fmt.Sprintf("mnist-%03d", i+1), f.seed.PublicSeed(i)))
	if err != nil {
		return nil, err
	}
	f.bar.Describe("clients")
	f.bar.Grow(f.run.Cohort)
	defer f.bar.Close()
	group, playing := errgroup.WithContext(ctx)
	for k, p := range f.players {
		n, all := f.run.Cohort, len(f.players)
		first, last := i*n+n*k/all, i*n+n*(k+1)/all
		group.Go(func() error { return f.play(playing, p, round.ID, first, last) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	// The round closes by itself when the whole cohort has reported. Waiting for it needs no
	// more than decoding time.
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return f.operator.Estimate(ctx, round.ID, true)
}

// play is what the clients whose turns are first, …, last−1 do in a round: each joins it
// unless its policy forbids, computes the gradient of its own images at the published
// model, and sends one randomized report.
func (f *federation) play(ctx context.Context, p *player, round string, first, last int) error {
	part, err := p.client.Join(ctx, round)
	if err != nil || first == last {
		return err
	}
	published, err := p.client.Model(ctx)
	if err != nil {
		return err
	}
	params, err := trainer.ReadWeights(bytes.NewReader(published.Data), f.model)
	if err != nil {
		return err
	}
	// Most mechanisms clip the L1 norm. What makes it smaller makes the L2 norm larger, which
	// sumdp clips.
	gradients := f.clients.Shrunk
	if f.run.Mechanism == hdsum.Name {
		gradients = f.clients.Gradients
	}
	var reports [][]byte
	if err := gradients(ctx, p.examples, params, first, last, func(turn int, grad []float64) error {
		report, err := part.Encode(nil, grad, f.seed.Client(turn))
		reports = append(reports, report)
		f.bytes.Add(int64(len(report)))
		f.bar.Step()
		return err
	}); err != nil {
		return err
	}
	_, err = part.Submit(ctx, reports)
	return err
}

// close frees what the federation holds and stops the server.
func (f *federation) close() (err error) {
	for _, closer := range slices.Backward(f.closers) {
		err = errors.Join(err, closer())
	}
	return err
}
