// Command draw is a page on which a visitor draws a digit and takes part in a round. Use it to see
// what a browser needs for that: the tab reads the round, checks its promise, computes the gradient,
// encodes it and sends one report of a few bytes. The drawing stays in the tab. Start with
//
//	go run ./examples/draw              # then open the address that it prints
//	go run ./examples/draw --epsilon 8   # a round that the page refuses until its visitor allows it
//
// Read on below: the server from top to bottom. The model is in model.go, and what happens in the tab in
// page/page.js, on the npm package bridge/web.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"

	flag "github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/trainer"
)

func main() { command.Main("draw", draw) }

// options are what the flags say.
type options struct {
	listen, sdk string
	epsilon     float64
}

func parse(args []string, std command.Streams) (o options, err error) {
	f := flag.NewFlagSet("draw", flag.ContinueOnError)
	f.SetOutput(std.Out)
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` of the page, on this machine")
	f.Float64Var(&o.epsilon, "epsilon", 4, "privacy budget of one report")
	f.StringVar(&o.sdk, "sdk", "", "`directory` of the built package bridge/web; empty: it is built, in the directory of the module")
	if err := command.ParseOnly(f, args); err != nil {
		return o, err
	}
	host, _, err := net.SplitHostPort(o.listen)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return o, fl.Invalid("--listen", o.listen, "must be a loopback address and a port, such as 127.0.0.1:0")
	}
	return o, nil
}

// draw serves the page until it is interrupted.
func draw(ctx context.Context, args []string, std command.Streams) error {
	o, err := parse(args, std)
	if err != nil {
		return err
	}
	if o.sdk == "" {
		built, err := os.MkdirTemp("", "hushgrad-draw-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(built)
		fmt.Fprintln(std.Err, "building bridge/web")
		if text, err := exec.CommandContext(ctx, "go", "run", "./bridge/web", "--out", built).CombinedOutput(); err != nil {
			return fmt.Errorf("go run ./bridge/web, in the directory of the module: %w\n%s", err, text)
		}
		o.sdk = built
	}
	page, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer page.Close()
	url := "http://" + page.Addr().String()
	srv, err := server.New(server.Config{Logger: slog.New(slog.DiscardHandler), HTTPOrigins: []string{url}})
	if err != nil {
		return err
	}
	l, err := listeners()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return srv.Serve(ctx, l) })
	group.Go(func() error {
		fmt.Fprintln(std.Err, "training a model on generated digits")
		if err := publish(ctx, l.Operator.Addr().String(), o.epsilon); err != nil {
			return err
		}
		fmt.Fprintf(std.Err, "draw: %s/\n", url)
		return serve(ctx, page, o.sdk, "http://"+l.HTTP.Addr().String())
	})
	return group.Wait()
}

// listeners are free ports of this machine.
func listeners() (l server.Listeners, err error) {
	for _, to := range []*net.Listener{&l.Clients, &l.Operator, &l.HTTP} {
		var one net.Listener
		if one, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return l, err
		}
		*to = one
	}
	return l, nil
}

// publish opens the round, with its model, as an operator does.
func publish(ctx context.Context, operator string, epsilon float64) (err error) {
	conn, err := grpc.NewClient(operator, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	weights, err := pretrained(ctx)
	if err != nil {
		return err
	}
	o := client.NewOperator(conn)
	if _, err := o.PutModel(ctx, trainer.WeightsFormat, weights); err != nil {
		return err
	}
	_, err = o.OpenRound(ctx, fl.Round{
		ID: "draw", Mechanism: coco.Name, Dim: dim, Epsilon: epsilon, Relation: fl.ReplaceOne, MinReports: 1000,
		Scale:  1, // no coordinate of the gradient of one drawing is larger
		Params: fl.Params{sparse.ParamSparsity: fl.Int(64)},
	})
	return err
}
