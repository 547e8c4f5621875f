package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"

	"github.com/nats-io/nats.go"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/cmd/hushgrad-broker/broker"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/jetstream"
	"github.com/hushgrad/hushgrad/server/journal/disk"
	"github.com/hushgrad/hushgrad/server/seal"
)

// runBroker is a broker with its streams in a directory, on a free port that it prints.
func runBroker(ctx context.Context, data string, out io.Writer) error {
	b, err := broker.Start(broker.Config{Dir: data, Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, b.URL())
	<-ctx.Done()
	b.Close()
	return nil
}

// cluster are the flags of a member.
type cluster struct {
	brokers, leader string
	shard, shards   int
}

func (c *cluster) bind(f *flag.FlagSet) {
	f.StringVar(&c.brokers, "nats", "", "`URL` of the broker of a member")
	f.StringVar(&c.leader, "leader", "", "`address` at which the member that leads listens")
	f.IntVar(&c.shard, "shard", 0, "`number` of the shard of a member")
	f.IntVar(&c.shards, "shards", 1, "`number` of all shards")
}

// serve is the member that is measured.
func (c *cluster) serve(ctx context.Context, data, keys string, out io.Writer) (failed error) {
	logger := slog.New(slog.DiscardHandler)
	kept, err := disk.Open(data, disk.Options{Logger: logger})
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, kept.Close()) }()
	found, err := seal.OpenKeys(keys, seal.X25519)
	if err != nil {
		return err
	}
	nc, err := nats.Connect(c.brokers, jetstream.Options()...)
	if err != nil {
		return err
	}
	defer nc.Close()
	joined, err := jetstream.Connect(ctx, nc, jetstream.Config{Shards: c.shards, Replicas: 1, Logger: logger})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, c.leader)
	return joined.Serve(ctx, jetstream.Member{
		Shard: c.shard, Journal: kept, Seal: found, Server: server.Config{Logger: logger},
		Listen: func() (l server.Listeners, err error) {
			l.Clients, err = net.Listen("tcp", c.leader)
			return l, err
		},
	})
}
