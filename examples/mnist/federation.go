package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/trainer"
)

// federation is a running server, its operator and the devices that play the
// clients, all in this process, all over loopback TCP.
type federation struct {
	cfg       config
	model     trainer.Model
	people    *population
	operator  *client.Operator
	devices   []*device
	optimizer *trainer.Optimizer
	average   *trainer.Average
	params    []float64 // what clients train on
	averaged  []float64 // the model that counts

	conns []*grpc.ClientConn
	stop  context.CancelFunc
	ended chan error
}

func newFederation(cfg config, model trainer.Model, train *dataset.Set) (_ *federation, err error) {
	f := &federation{cfg: cfg, model: model, params: model.Init(cfg.stream(forInit, 0)), ended: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	if f.people, err = newPopulation(cfg, train); err != nil {
		return nil, err
	}
	optimizer := trainer.OptimizerConfig{Name: "sgd", LearningRate: cfg.lr}
	if cfg.momentum > 0 {
		optimizer.Name, optimizer.Momentum = "momentum", cfg.momentum
	}
	if f.optimizer, err = trainer.NewOptimizer(optimizer, model.Dim()); err != nil {
		return nil, err
	}
	if f.average, err = trainer.NewAverage(model.Dim(), cfg.averaging); err != nil {
		return nil, err
	}
	f.averaged = make([]float64, model.Dim())
	address, operatorAddress, err := f.serve()
	if err != nil {
		return nil, err
	}
	conn, err := f.dial(operatorAddress)
	if err != nil {
		return nil, err
	}
	f.operator = client.NewOperator(conn)
	for range runtime.GOMAXPROCS(0) {
		conn, err := f.dial(address)
		if err != nil {
			return nil, err
		}
		d, err := newDevice(cfg, model, f.people, conn)
		if err != nil {
			return nil, err
		}
		f.devices = append(f.devices, d)
	}
	return f, nil
}

// serve starts the server on two free loopback ports.
func (f *federation) serve() (clients, operator string, err error) {
	srv, err := server.New(server.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return "", "", err
	}
	var l server.Listeners
	if l.Clients, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return "", "", err
	}
	if l.Operator, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return "", "", errors.Join(err, l.Clients.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	f.stop = stop
	go func() { f.ended <- srv.Serve(ctx, l) }()
	return l.Clients.Addr().String(), l.Operator.Addr().String(), nil
}

func (f *federation) dial(address string) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.UseCompressor(client.Zstd)))
	if err == nil {
		f.conns = append(f.conns, conn)
	}
	return conn, err
}

// round runs one round: publish the model, open the round, let the cohort take
// part, take the step. done is called after each client.
func (f *federation) round(ctx context.Context, i int, done func()) (*fl.Estimate, traffic, error) {
	var weights bytes.Buffer
	if err := trainer.WriteWeights(&weights, f.model, f.params); err != nil {
		return nil, traffic{}, err
	}
	if _, err := f.operator.PutModel(ctx, trainer.WeightsFormat, weights.Bytes()); err != nil {
		return nil, traffic{}, err
	}
	opened, err := f.operator.OpenRound(ctx, f.cfg.round(i, f.model.Dim()))
	if err != nil {
		return nil, traffic{}, err
	}
	sent, err := f.takePart(ctx, opened.ID, i, done)
	if err != nil {
		return nil, traffic{}, err
	}
	// The round closes by itself at its target; waiting for it needs no more
	// than decoding time.
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	estimate, err := f.operator.Estimate(ctx, opened.ID, true)
	if err != nil {
		return nil, traffic{}, err
	}
	return estimate, sent, errors.Join(f.optimizer.Step(f.params, estimate.Value), f.average.Add(f.params), f.average.Params(f.averaged))
}

// takePart splits the cohort of a round evenly over the devices.
func (f *federation) takePart(ctx context.Context, round string, i int, done func()) (sent traffic, err error) {
	first, last := f.people.members(i)
	group, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex
	for k, d := range f.devices {
		from := first + (last-first)*k/len(f.devices)
		to := first + (last-first)*(k+1)/len(f.devices)
		group.Go(func() error {
			t, err := d.takePart(ctx, round, i/f.people.epoch, from, to, done)
			mu.Lock()
			defer mu.Unlock()
			sent.reports += t.reports
			sent.bytes += t.bytes
			return err
		})
	}
	err = group.Wait()
	return sent, err
}

// close frees the devices and stops the server.
func (f *federation) close() (err error) {
	for _, d := range f.devices {
		err = errors.Join(err, d.examples.Close())
	}
	for _, c := range f.conns {
		err = errors.Join(err, c.Close())
	}
	if f.stop != nil {
		f.stop()
		if serveErr := <-f.ended; serveErr != nil {
			err = errors.Join(err, fmt.Errorf("server: %w", serveErr))
		}
	}
	return err
}
