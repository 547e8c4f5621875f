package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/jetstream"
)

// clusterFlags are the flags of hushgrad serve as a member of a cluster.
type clusterFlags struct {
	brokers
	shard    string
	replicas int

	own, shards int // as --shard says
}

func (c *clusterFlags) bind(f *flag.FlagSet) {
	c.brokers.bind(f, "be a member of the cluster that meets there; hushgrad-broker is one; empty: there is no cluster")
	f.StringVar(&c.shard, "shard", "", "`i/n`: this member counts shard i of n, from 0, and others while their members are away; */n: it counts what is free")
	f.IntVar(&c.replicas, "nats-replicas", 3, "`number` of brokers that keep everything: 1, 3 or 5")
}

// validate checks the flags.
func (c *clusterFlags) validate(shuffler shufflerFlags) (err error) {
	if c.urls == "" {
		return cmp.Or(notGiven("needs --nats", textFlag{"--shard", c.shard}), c.brokers.validate())
	}
	if c.urls == "embedded" { // as nats-server and programs with a broker inside have it
		return fl.Invalid("--nats", c.urls, "must be URLs, this program has no broker inside: start one with \"hushgrad-broker --data DIR\", and type --nats nats://127.0.0.1:4222 --nats-replicas 1")
	}
	if shuffler.listen == "" {
		return fl.Invalid("--shuffler-listen", "", "is required with --nats: all rounds of a cluster have a shuffler")
	}
	if c.own, c.shards, err = parseShard(c.shard); err != nil {
		return err
	}
	return c.brokers.validate()
}

// parseShard reads i/n, or */n for −1 and n.
func parseShard(text string) (own, shards int, err error) {
	i, n, ok := strings.Cut(text, "/")
	if shards, err = strconv.Atoi(n); !ok || err != nil || shards < 1 {
		return 0, 0, fl.Invalid("--shard", text, "must be i/n or */n, with n ≥ 1 shards")
	}
	if i == "*" {
		return -1, shards, nil
	}
	if own, err = strconv.Atoi(i); err != nil || own < 0 || own >= shards {
		return 0, 0, fl.Invalid("--shard", text, "must have i in [0, %d)", shards)
	}
	return own, shards, nil
}

// meet returns the cluster, and what ends the connection to it.
func (c *clusterFlags) meet(ctx context.Context, logger *slog.Logger) (_ *jetstream.Cluster, leave func(), err error) {
	nc, err := c.connect(logger)
	if err != nil {
		return nil, nil, err
	}
	cluster, err := jetstream.Connect(ctx, nc, jetstream.Config{Name: c.name, Shards: c.shards, Replicas: c.replicas, Logger: logger})
	if err != nil {
		nc.Close()
		if p, ok := errors.AsType[*fl.ParamError](err); ok && p.Param == "Shards" {
			err = fl.Invalid("--shard", c.shard, "must have another number of shards, or --nats-cluster another name: %v", err)
		}
		return nil, nil, fmt.Errorf("--nats: %w", err)
	}
	return cluster, nc.Close, nil
}

// leading is the server of this member while it leads.
type leading struct{ atomic.Pointer[server.Server] }

func (l *leading) get() (*server.Server, error) {
	if leader := l.Load(); leader != nil {
		return leader, nil
	}
	return nil, errNotLeading
}

var errNotLeading = errors.New("another member leads: its dashboard shows the rounds")
