package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/dense"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/trainer"
)

// device plays many clients, one after the other, over one gRPC connection.
// For each of them it does what a phone would: compute the gradient of the
// client's own images at the published model and encode it. What it fetches is
// the same for all of them, so it fetches it once per round, and it sends the
// reports of its clients over one stream.
type device struct {
	cfg    config
	model  trainer.Model
	client *client.Client
	worker *trainer.Worker
	grad   []float64
	people *population
}

func newDevice(cfg config, model trainer.Model, people *population, conn grpc.ClientConnInterface) (*device, error) {
	c, err := client.New(conn, client.Options{Policy: cfg.policy()})
	if err != nil {
		return nil, err
	}
	worker, err := model.NewWorker(people.share)
	if err != nil {
		return nil, err
	}
	return &device{cfg: cfg, model: model, client: c, worker: worker, grad: make([]float64, model.Dim()), people: people}, nil
}

// traffic is what a part of a round sent.
type traffic struct {
	reports, bytes int64
}

// takePart plays the given clients in a round. done is called after each.
func (d *device) takePart(ctx context.Context, round string, first, last int, done func()) (traffic, error) {
	part, err := d.client.Join(ctx, round)
	if err != nil {
		return traffic{}, err
	}
	published, err := d.client.Model(ctx)
	if err != nil {
		return traffic{}, err
	}
	params, err := trainer.ReadWeights(bytes.NewReader(published.Data), d.model)
	if err != nil {
		return traffic{}, err
	}
	var sent traffic
	var reports [][]byte
	var x [][]float64
	var y []int
	for id := first; id < last; id++ {
		if err := ctx.Err(); err != nil {
			return traffic{}, err
		}
		x, y = d.people.examples(id, x[:0], y[:0])
		report, err := d.report(part, params, x, y, d.cfg.stream(forClient, uint64(id)))
		if err != nil {
			return traffic{}, fmt.Errorf("client %d: %w", id, err)
		}
		reports = append(reports, report)
		sent.reports++
		sent.bytes += int64(len(report))
		done()
	}
	if len(reports) == 0 {
		return sent, nil
	}
	_, err = part.Submit(ctx, reports)
	return sent, err
}

// report is what one client computes: the gradient at params of its examples,
// and from it the report.
func (d *device) report(part *client.Participation, params []float64, x [][]float64, y []int, rng *rand.Rand) ([]byte, error) {
	if _, err := d.worker.Gradient(d.grad, params, x, y); err != nil {
		return nil, err
	}
	// Ternary mechanisms clip the L1 norm; the change of the gradient that shrinks
	// it makes the L2 norm larger.
	if _, ternary := part.Mechanism().(fl.SparseMechanism); ternary || d.cfg.mechanism == dense.Name {
		if err := trainer.ShrinkL1(d.model, d.grad); err != nil {
			return nil, err
		}
	}
	return part.Encode(nil, d.grad, rng)
}
