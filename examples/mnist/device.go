package main

import (
	"bytes"
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/trainer"
)

// batch is how many images a device computes gradients of at once.
const batch = 256

// device plays many clients, one after the other, over one gRPC connection.
// For each of them it does what a phone would: compute the gradient of the
// client's own images at the published model and encode it. What it fetches is
// the same for all of them, so it fetches it once per round, and it sends the
// reports of its clients over one stream per tier. The gradients are those that each
// client would compute alone, but come from one run of the graph for many clients.
type device struct {
	cfg        config
	model      trainer.Model
	clients    []*client.Client // one per tier, which differ in their policies
	examples   *trainer.Examples
	grad, part []float64
	people     *population
}

func newDevice(cfg config, model trainer.Model, people *population, conn grpc.ClientConnInterface) (*device, error) {
	d := &device{cfg: cfg, model: model, people: people, grad: make([]float64, model.Dim()), part: make([]float64, model.Dim())}
	for _, policy := range cfg.policies() {
		c, err := client.New(conn, client.Options{Policy: policy})
		if err != nil {
			return nil, err
		}
		d.clients = append(d.clients, c)
	}
	var err error
	d.examples, err = model.NewExamples(d.together() * people.share)
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
	for from := first; from < last; from += d.together() {
		if err := ctx.Err(); err != nil {
			return traffic{}, err
		}
		to := min(from+d.together(), last)
		x, y = x[:0], y[:0]
		for id := from; id < to; id++ {
			x, y = d.people.examples(id, x, y)
		}
		if _, err := d.examples.Run(params, x, y); err != nil {
			return traffic{}, err
		}
		for id := from; id < to; id++ {
			if err := d.gradient((id - from) * d.people.share); err != nil {
				return traffic{}, fmt.Errorf("client %d: %w", id, err)
			}
			tier := d.cfg.tierOf(id)
			report, err := parts[tier].Encode(nil, d.grad, d.cfg.stream(forClient, uint64(id+epoch*d.cfg.clients)))
			if err != nil {
				return traffic{}, fmt.Errorf("client %d: %w", id, err)
			}
			reports[tier] = append(reports[tier], report)
			sent.reports++
			sent.bytes += int64(len(report))
			done()
		}
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

// together is how many clients' gradients are computed at once.
func (d *device) together() int { return max(1, batch/d.people.share) }

// gradient fills d.grad with the mean gradient of the images of one client, the first of
// them at the given place of the batch.
func (d *device) gradient(first int) error {
	clear(d.grad)
	for i := range d.people.share {
		// Ternary mechanisms clip the L1 norm; the change of the gradient that shrinks
		// it makes the L2 norm, which sumdp clips, larger.
		of := d.examples.Shrunk
		if d.cfg.mechanism == hdsum.Name {
			of = d.examples.Gradient
		}
		if err := of(d.part, first+i); err != nil {
			return err
		}
		floats.AddScaled(d.grad, 1/float64(d.people.share), d.part)
	}
	if d.people.share > 1 && d.cfg.mechanism != hdsum.Name {
		return trainer.ShrinkL1(d.model, d.grad) // the mean of shortest gradients need not be one
	}
	return nil
}
