package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/npy"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/trainer"
)

// federation are an issuer and two servers, the shuffler and the aggregator, in processes of their own, and clients who talk gRPC to them. It implements
// trainer.Rounds. Each client fetches a token, seals the shares of its report and sends them by itself.
type federation struct {
	parties.Site
	run       *plan.Run
	gradients trainer.Gradients
	conn      *grpc.ClientConn
	client    *client.Client
	sent      atomic.Int64
	bar       *progress.Bar
	silent    int // first rounds, after which nothing is printed: one bar is for them all
	began     time.Time
}

// newFederation starts the parties. binary is hushgrad, and empty where it is to be built. No line is printed after the first silent rounds.
func newFederation(ctx context.Context, run *plan.Run, gradients trainer.Gradients, silent int, binary string, log io.Writer) (f *federation, err error) {
	f = &federation{run: run, gradients: gradients, silent: silent, bar: progress.New(log, "")}
	if f.Site, err = parties.Open(ctx, run, parties.Options{Apart: true, Binary: binary, Log: log}); err != nil {
		return nil, err
	}
	var opts client.Options
	if f.conn, opts, err = f.Connect(); err == nil {
		f.client, err = client.New(f.conn, opts)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Bytes is the length of all reports so far.
func (f *federation) Bytes() int64 { return f.sent.Load() }

// modelFormat is the media type of a vector of NumPy.
const modelFormat = trainer.WeightsFormat

// Mean implements trainer.Rounds. It publishes the model, opens a round, has the clients whose turn it is take part, and waits for the estimate.
func (f *federation) Mean(ctx context.Context, i int, params []float64) (*fl.Estimate, error) {
	var model bytes.Buffer
	if err := npy.Write(&model, params); err != nil {
		return nil, err
	}
	if _, err := f.PutModel(ctx, modelFormat, model.Bytes()); err != nil {
		return nil, err
	}
	round, err := f.OpenRound(ctx, f.run.Round(fmt.Sprintf("tabular-%03d", i+1), fl.NewPublicSeed()))
	if err != nil {
		return nil, err
	}
	f.bar.Describe(f.describe(i))
	f.bar.Grow(f.steps(i))
	if i+1 >= f.silent {
		defer f.bar.Close()
	}
	if err := f.play(ctx, round.ID, i*f.run.Cohort, f.run.Cohort); err != nil {
		return nil, err
	}
	// The round closes by itself when the whole cohort has reported.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	return f.Estimate(ctx, round.ID, true)
}

// steps is how many steps a round announces: each client encodes and sends in it, and in all silent rounds where it is their first.
func (f *federation) steps(i int) int {
	switch {
	case i == 0:
		return 2 * f.run.Cohort * max(1, f.silent)
	case i < f.silent:
		return 0
	default:
		return 2 * f.run.Cohort
	}
}

// describe says beside the bar how far the run is, and after its first round how long it will take.
func (f *federation) describe(i int) string {
	left := ""
	if i == 0 {
		f.began = time.Now()
	} else {
		all := time.Since(f.began) / time.Duration(i) * time.Duration(f.run.Affordable-i)
		left = fmt.Sprintf(" (%s left in all)", all.Round(time.Second))
	}
	return fmt.Sprintf("round %d of %d%s, encode and send", i+1, f.run.Affordable, left)
}

// play is what n clients do in a round, from the first turn: each joins it unless its policy forbids, computes the gradient of its row at the published model,
// and sends one report.
func (f *federation) play(ctx context.Context, round string, first, n int) error {
	part, err := f.client.Join(ctx, round)
	if err != nil {
		return err
	}
	published, err := f.client.Model(ctx)
	if err != nil {
		return err
	}
	params, err := npy.Read(bytes.NewReader(published.Data), f.gradients.Dim())
	if err != nil {
		return err
	}
	parts, err := f.Admit(ctx, part, first, n)
	if err != nil {
		return err
	}
	var reports [][]byte
	if err := f.gradients.Each(ctx, params, first, first+n, func(turn int, gradient []float64) error {
		report, err := parts[turn-first].Encode(nil, gradient, nil)
		reports = append(reports, report)
		f.bar.Step()
		return err
	}); err != nil {
		return err
	}
	bytes, err := f.Send(ctx, parts, reports, f.bar.Step)
	f.sent.Add(bytes)
	return err
}
