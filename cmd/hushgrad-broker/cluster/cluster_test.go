package cluster_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/cmd/hushgrad-broker/broker"
	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/jetstream"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

// party is a cluster on one broker in this process, with its operator and what a shuffler uses.
type party struct {
	t       *testing.T
	broker  *broker.Broker
	cluster *jetstream.Cluster
	keys    *seal.Keys
	address string // of the leader
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// startParty starts a broker and the connection of a member to it, and no member.
func startParty(t *testing.T, shards int) *party {
	t.Helper()
	node, err := broker.Start(broker.Config{Dir: t.TempDir(), Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Close)
	keys, err := seal.OpenKeys(t.TempDir()+"/keys", seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	p := &party{t: t, broker: node, keys: keys, address: freeAddress(t)}
	p.cluster = p.connect(jetstream.Config{Shards: shards, Replicas: 1, Lanes: 2, Logger: quiet()})
	return p
}

func (p *party) connect(cfg jetstream.Config) *jetstream.Cluster {
	p.t.Helper()
	c, err := jetstream.Connect(p.t.Context(), p.nats(), cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

func (p *party) nats() *nats.Conn {
	p.t.Helper()
	nc, err := p.broker.Connect(jetstream.Options()...)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(nc.Close)
	return nc
}

// join lets a member work until stop is called.
func (p *party) join(shard int, kept journal.Journal) (stop func()) {
	p.t.Helper()
	return p.joinWatched(shard, kept, nil)
}

// joinWatched is join for a member with metrics.
func (p *party) joinWatched(shard int, kept journal.Journal, metrics prometheus.Registerer) (stop func()) {
	p.t.Helper()
	return p.joinWith(p.keys, shard, kept, metrics)
}

// joinWith is joinWatched for a member with keys of its own.
func (p *party) joinWith(keys *seal.Keys, shard int, kept journal.Journal, metrics prometheus.Registerer) (stop func()) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- p.cluster.Serve(ctx, jetstream.Member{
			Shard: shard, Journal: kept, Seal: keys, Server: server.Config{Logger: quiet(), Metrics: metrics},
			Listen: func() (l server.Listeners, err error) {
				l.Clients, err = net.Listen("tcp", p.address)
				return l, err
			},
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			p.t.Error(err)
		}
	})
	p.t.Cleanup(stop)
	return stop
}

// dial returns the operator's connection and a shuffler's.
func (p *party) dial() (*client.Operator, grpc.ClientConnInterface) {
	p.t.Helper()
	conn, err := grpc.NewClient(p.address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)), grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: time.Second}))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = conn.Close() })
	return client.NewOperator(conn), p.cluster.Upstream(conn)
}

// crowd is a round and the sealed reports of its clients.
type crowd struct {
	round   fl.Round
	digest  [32]byte
	reports [][]byte
	sealed  [][]byte
}

// cocoRound is a round with a shuffler that has one minimum of reports.
func cocoRound(id string, n int) fl.Round {
	return fl.Round{
		ID: id, Mechanism: "coco", Params: fl.Params{"sparsity": fl.Int(3), "slots": fl.Int(8)}, Dim: 64, Scale: 1, Epsilon: 1,
		Relation: fl.ReplaceOne, MinReports: n, Shuffler: "shuffler.example", PublicSeed: [32]byte{1},
	}
}

// gather seals one report for each of n clients of an open round.
func gather(t testing.TB, r fl.Round, n int) *crowd {
	t.Helper()
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{round: r}
	if c.digest, err = r.Digest(); err != nil {
		t.Fatal(err)
	}
	sealer, err := seal.NewItemSealer(r, m)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	gradient := make([]float64, r.Dim)
	for i := range n {
		gradient[i%3] = float64(i%3) - 1
		report, err := m.Encode(nil, gradient, rng)
		if err != nil {
			t.Fatal(err)
		}
		c.reports = append(c.reports, report)
	}
	if c.sealed, err = sealer.Items(c.reports); err != nil {
		t.Fatal(err)
	}
	return c
}

// forward sends sealed reports as a shuffler does.
func (c *crowd) forward(ctx context.Context, to grpc.ClientConnInterface, sealed [][]byte) error {
	req := &service.ForwardReportsRequest{RoundId: c.round.ID, RoundDigest: c.digest[:]}
	for _, s := range sealed {
		req.Sealed = append(req.Sealed, s...)
	}
	_, err := service.NewShuffledClient(to).ForwardReports(ctx, req)
	return err
}

// complete says that all reports were forwarded.
func (c *crowd) complete(ctx context.Context, to grpc.ClientConnInterface) error {
	_, err := service.NewShuffledClient(to).CompleteRound(ctx, &service.CompleteRoundRequest{RoundId: c.round.ID, RoundDigest: c.digest[:]})
	return err
}

// estimate returns the estimate of an aggregator which counted every report once.
func (c *crowd) estimate(t testing.TB) *fl.Estimate {
	t.Helper()
	m, err := fl.Open(c.round)
	if err != nil {
		t.Fatal(err)
	}
	sum := m.NewAggregator()
	if err := fl.AddBatch(m, sum, c.reports); err != nil {
		t.Fatal(err)
	}
	e, err := sum.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// eventually waits until something holds, and fails after a minute.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s within a minute", what)
		}
	}
}
