package jetstream

import (
	"context"
	"crypto/rand"
	"flag"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

// brokerURL is where the tests below find a broker. TestFromWithin in cmd/hushgrad-broker/cluster starts one, and runs
// these tests with it.
var brokerURL = flag.String("broker", "", "`URL` of a NATS broker with JetStream, for the tests that need one")

// testCluster is a cluster of its own at the broker.
func testCluster(t testing.TB, cfg Config) *Cluster {
	t.Helper()
	if *brokerURL == "" {
		t.Skip("needs -broker: go test ./cmd/hushgrad-broker/cluster -run TestFromWithin starts one")
	}
	nc, err := nats.Connect(*brokerURL, Options()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	cfg.Name, cfg.Replicas, cfg.Logger = rand.Text(), 1, slog.New(slog.DiscardHandler)
	c, err := Connect(t.Context(), nc, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.remove(t) })
	return c
}

// remove deletes all streams of a cluster.
func (c *Cluster) remove(t testing.TB) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	streams := c.js.StreamNames(ctx)
	for name := range streams.Name() {
		if !strings.Contains(name, c.cfg.Name) {
			continue
		}
		if err := c.js.DeleteStream(ctx, name); err != nil {
			t.Error(err)
		}
	}
	if err := streams.Err(); err != nil {
		t.Error(err)
	}
}

func testKeys(t testing.TB) *seal.Keys {
	t.Helper()
	keys, err := seal.OpenKeys(t.TempDir()+"/keys", seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// testRound is a round whose reports are sealed to one of these keys, or to one that nobody has.
func testRound(t testing.TB, keys *seal.Keys) fl.Round {
	t.Helper()
	r := fl.Round{
		ID: "r", Mechanism: "coco", Params: fl.Params{"sparsity": fl.Int(3), "slots": fl.Int(8)}, Dim: 64, Scale: 1, Epsilon: 1,
		Relation: fl.ReplaceOne, MinReports: 1, Shuffler: "shuffler.example", PublicSeed: [32]byte{1},
	}
	key, err := seal.GenerateKey(seal.X25519)
	if keys != nil {
		key, err = keys.Newest()
	}
	if err != nil {
		t.Fatal(err)
	}
	r.SealKey = key.Public()
	if r, _, err = fl.Complete(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// sealReports returns n sealed reports of a round.
func sealReports(t testing.TB, r fl.Round, n int) [][]byte {
	t.Helper()
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := seal.NewItemSealer(r, m)
	if err != nil {
		t.Fatal(err)
	}
	reports := make([][]byte, n)
	for i := range reports {
		if reports[i], err = m.Encode(nil, make([]float64, r.Dim), fl.NewRand()); err != nil {
			t.Fatal(err)
		}
	}
	sealed, err := sealer.Items(reports)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// bench is one shard that a test drives by hand.
type bench struct {
	*shard
	t     testing.TB
	round fl.Round
	open  message
}

func newBench(t testing.TB, lanes int) *bench {
	t.Helper()
	c := testCluster(t, Config{Shards: 1, Lanes: lanes})
	keys := testKeys(t)
	b := &bench{shard: newShard(c, 0, "first", keys, journal.NewMemory()), t: t, round: testRound(t, keys)}
	var err error
	if b.open, err = openMessage(b.round); err != nil {
		t.Fatal(err)
	}
	if err := b.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// other is another member with the same shard, on a disk of its own.
func (b *bench) other(holder string) *bench {
	return &bench{shard: newShard(b.Cluster, 0, holder, b.keys, journal.NewMemory()), t: b.t, round: b.round, open: b.open}
}

// put publishes a message by a lane.
func (b *bench) put(lane int, kind kind, reports ...[]byte) {
	b.t.Helper()
	m := message{kind: kind, digest: b.open.digest, body: slices.Concat(reports...)}
	if kind == kindOpen {
		m = b.open
	}
	b.publish(lane, m.marshal())
}

// patient bounds a request of a test, which may run beside others: brokers that are busy take longer
// than a member would wait.
func patient(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), time.Minute)
}

// publish publishes bytes by a lane.
func (b *bench) publish(lane int, data []byte) {
	b.t.Helper()
	ctx, cancel := patient(b.t)
	defer cancel()
	_, err := b.js.Publish(ctx, b.reportSubject(lane, 0), data)
	b.must(err)
}

// has returns what a stream has.
func (b *bench) has(s jetstream.Stream) jetstream.StreamState {
	b.t.Helper()
	ctx, cancel := patient(b.t)
	defer cancel()
	info, err := s.Info(ctx)
	b.must(err)
	return info.State
}

// drain applies all messages that are there, lane by lane.
func (b *bench) drain() {
	b.t.Helper()
	for lane := range b.lanes {
		in := make(chan delivery)
		last := b.has(b.lanes[lane]).LastSeq
		if b.at[lane] >= last {
			continue
		}
		go b.read(b.t.Context(), lane, b.at[lane]+1, in)
		for b.at[lane] < last {
			if err := b.apply(b.t.Context(), <-in); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// bytes is the snapshot of what was counted.
func (b *bench) bytes() []byte {
	b.t.Helper()
	t := b.tallies[b.open.digest]
	if t == nil {
		return nil
	}
	data, err := t.sum.MarshalBinary()
	b.must(err)
	return data
}

func testBox(t testing.TB) *box {
	t.Helper()
	key, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBox(key, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
