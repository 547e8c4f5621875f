package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/trainer"
)

// device plays many clients, one after the other, over one gRPC connection.
// For each of them it does what a phone would: compute the gradient of the
// client's own images at the published model and encode it. What it fetches is
// the same for all of them, so it fetches it once per round, and it sends the
// reports of its clients over one stream per tier.
type device struct {
	cfg     config
	model   trainer.Model
	clients []*client.Client // one per tier, which differ in their policies
	worker  *trainer.Worker
	grad    []float64
	people  *population
}

func newDevice(cfg config, model trainer.Model, people *population, conn grpc.ClientConnInterface) (*device, error) {
	d := &device{cfg: cfg, model: model, grad: make([]float64, model.Dim()), people: people}
	for _, policy := range cfg.policies() {
		c, err := client.New(conn, client.Options{Policy: policy})
		if err != nil {
			return nil, err
		}
		d.clients = append(d.clients, c)
	}
	var err error
	d.worker, err = model.NewWorker(people.share)
	return d, err
}

// traffic is what a part of a round sent.
type traffic struct {
	reports, bytes int64
}

// takePart plays the given clients in a round, for the epoch-th time, from 0. done is
// called after each.
func (d *device) takePart(ctx context.Context, round string, epoch, first, last int, done func()) (traffic, error) {
	parts := make([]*client.Participation, len(d.clients))
	for i, c := range d.clients {
		var err error
		if parts[i], err = c.Join(ctx, round); err != nil {
			return traffic{}, err
		}
	}
	published, err := d.clients[0].Model(ctx)
	if err != nil {
		return traffic{}, err
	}
	params, err := trainer.ReadWeights(bytes.NewReader(published.Data), d.model)
	if err != nil {
		return traffic{}, err
	}
	var sent traffic
	reports := make([][][]byte, len(parts))
	var x [][]float64
	var y []int
	for id := first; id < last; id++ {
		if err := ctx.Err(); err != nil {
			return traffic{}, err
		}
		x, y = d.people.examples(id, x[:0], y[:0])
		tier := d.cfg.tierOf(id)
		report, err := d.report(parts[tier], params, x, y, d.cfg.stream(forClient, uint64(id+epoch*d.cfg.clients)))
		if err != nil {
			return traffic{}, fmt.Errorf("client %d: %w", id, err)
		}
		reports[tier] = append(reports[tier], report)
		sent.reports++
		sent.bytes += int64(len(report))
		done()
	}
	for i, part := range parts {
		if len(reports[i]) == 0 {
			continue
		}
		if _, err := part.Submit(ctx, reports[i]); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// report is what one client computes: the gradient at params of its examples,
// and from it the report.
func (d *device) report(part *client.Participation, params []float64, x [][]float64, y []int, rng *rand.Rand) ([]byte, error) {
	if _, err := d.worker.Gradient(d.grad, params, x, y); err != nil {
		return nil, err
	}
	// Ternary mechanisms clip the L1 norm; the change of the gradient that shrinks
	// it makes the L2 norm, which sumdp clips, larger.
	if d.cfg.mechanism != hdsum.Name {
		if err := trainer.ShrinkL1(d.model, d.grad); err != nil {
			return nil, err
		}
	}
	return part.Encode(nil, d.grad, rng)
}
