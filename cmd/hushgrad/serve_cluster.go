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

	"github.com/nats-io/nats.go"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/broker"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/jetstream"
)

// embeddedBroker is the value of --nats for a broker in the process.
const embeddedBroker = "embedded"

// clusterFlags are the flags of hushgrad serve as a member of a cluster.
type clusterFlags struct {
	brokers
	shard    string
	replicas int
	listen   string // of the embedded broker
	file     string

	own, shards int // as --shard says
}

func (c *clusterFlags) bind(f *flag.FlagSet) {
	c.brokers.bind(f, "be a member of the cluster that meets there; "+embeddedBroker+" runs a broker in this process; empty: there is no cluster")
	f.StringVar(&c.shard, "shard", "", "`i/n`: this member counts shard i of n, from 0, and others while their members are away; */n: it counts what is free")
	f.IntVar(&c.replicas, "nats-replicas", 3, "`number` of brokers that keep everything: 1, 3 or 5; an embedded one without --nats-config keeps it alone")
	f.StringVar(&c.listen, "nats-listen", "", "loopback `address` of the embedded broker for the shuffler and other members on this machine")
	f.StringVar(&c.file, "nats-config", "", "configuration `file` of nats-server for the embedded broker, with routes to others, TLS and accounts")
}

// validate checks the flags. What is kept is what the other flags say.
func (c *clusterFlags) validate(kept state, shuffler shufflerFlags) (err error) {
	switch {
	case c.urls == "":
		return cmp.Or(notGiven("needs --nats", textFlag{"--shard", c.shard}, textFlag{"--nats-listen", c.listen}, textFlag{"--nats-config", c.file}),
			c.brokers.validate())
	case shuffler.listen == "":
		return fl.Invalid("--shuffler-listen", "", "is required with --nats: all rounds of a cluster have a shuffler")
	case c.urls != embeddedBroker:
		err = notGiven("needs --nats "+embeddedBroker, textFlag{"--nats-listen", c.listen}, textFlag{"--nats-config", c.file})
	}
	if err != nil {
		return err
	}
	if c.own, c.shards, err = parseShard(c.shard); err != nil {
		return err
	}
	if c.urls != embeddedBroker {
		return c.brokers.validate()
	}
	switch {
	case kept.dir == noData:
		return fl.Invalid("--data", kept.dir, "must be a directory with --nats %s, which keeps its streams beside it", embeddedBroker)
	case c.listen != "" && !loopback(c.listen):
		return fl.Invalid("--nats-listen", c.listen, "must be a loopback address: others need TLS and accounts, which --nats-config has")
	}
	others := c.brokers
	if c.file != "" {
		others.creds = "" // it may ask this process, too
	}
	return others.unused("is for a broker in another process")
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
func (c *clusterFlags) meet(ctx context.Context, data string, logger *slog.Logger) (_ *jetstream.Cluster, leave func(), err error) {
	replicas, leave := c.replicas, func() {}
	var nc *nats.Conn
	if c.urls == embeddedBroker {
		node, err := broker.Start(broker.Config{Dir: data + "-nats", Listen: c.listen, File: c.file, Logger: logger})
		if err != nil {
			return nil, nil, err
		}
		leave = node.Close
		if c.file == "" {
			replicas = 1
		}
		if nc, err = node.Connect(c.options(logger)...); err != nil {
			leave()
			return nil, nil, err
		}
	} else if nc, err = c.connect(logger); err != nil {
		return nil, nil, err
	}
	closeBroker := leave
	leave = func() { nc.Close(); closeBroker() }
	cluster, err := jetstream.Connect(ctx, nc, jetstream.Config{Name: c.name, Shards: c.shards, Replicas: replicas, Logger: logger})
	if err != nil {
		leave()
		if p, ok := errors.AsType[*fl.ParamError](err); ok && p.Param == "Shards" {
			err = fl.Invalid("--shard", c.shard, "must have another number of shards, or --nats-cluster another name: %v", err)
		}
		return nil, nil, fmt.Errorf("--nats: %w", err)
	}
	return cluster, leave, nil
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
