package main

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/privunit"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/trainer"
)

// federation is a site and its clients, who talk over loopback TCP. It is where trainer.Run gets its
// means from.
type federation struct {
	run          *plan.Run
	model        *trainer.Model
	clients      *trainer.Clients
	seed         trainer.Seed
	bar          *progress.Bar
	shown        string // beside the bar
	liars        *parties.Liars
	parties.Site // nil until start
	players      []*player
	bytes        atomic.Int64 // of all reports so far
}

// player plays many clients, one after the other, over one connection. What they fetch is the same for all, so
// it fetches it once per round. The gradients are those that each client would compute alone.
type player struct {
	conn      *grpc.ClientConn
	client    *client.Client
	gradients trainer.Gradients
}

// start starts the site and connects everybody.
func (f *federation) start(ctx context.Context, o parties.Options) error {
	site, err := parties.Open(ctx, f.run, o)
	if err != nil {
		return err
	}
	f.Site = site
	for range runtime.GOMAXPROCS(0) {
		p := &player{}
		var opts client.Options
		if p.conn, opts, err = f.Connect(); err != nil {
			return err
		}
		if p.client, err = client.New(p.conn, opts); err != nil {
			return err
		}
		// Most mechanisms clip the L1 norm. What makes it smaller makes the L2 norm larger, which
		// sums and privunit clip.
		if p.gradients, err = f.clients.On(f.model, !plan.IsSum(f.run.Mechanism) && f.run.Mechanism != privunit.Name); err != nil {
			return err
		}
		f.players = append(f.players, p)
	}
	return nil
}

// close frees what the players hold and stops the site.
func (f *federation) close() (err error) {
	for _, p := range f.players {
		err = errors.Join(err, p.gradients.Close())
	}
	if f.Site != nil {
		err = errors.Join(err, f.Close())
	}
	return err
}
