package serving

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	flag "github.com/spf13/pflag"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/jetstream"
	"github.com/hushgrad/hushgrad/server/seal"
)

// leastGain is what a second shard on a second processor has to bring.
const leastGain = 1.6

// shardsExperiment measures how the rate of a cluster grows with its shards.
func shardsExperiment() experiment.Experiment {
	return experiment.Experiment{
		Name:    "shards",
		Title:   "Sealed reports per second of one shard on one processor, and of two on two",
		Source:  "Our own measurement; no paper",
		Without: []string{experiment.FlagData},
		Bind: func(f *flag.FlagSet) experiment.Run {
			dir := f.String("dir", "", "`directory` on the disk to measure, for streams and journals; empty: the system's for temporary files")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				return runShards(ctx, env, *dir)
			}
		},
	}
}

// perSnapshot is how many reports a shard reads between two snapshots.
const perSnapshot = 16384

// shardBench is the state of a run.
type shardBench struct {
	work, binary string
	snapshots    int // of each shard
	load         *load
	keys         *seal.Keys
	round        fl.Round
	sealed       [][]byte
}

// shardRate is what one measurement found: reports per second, and seconds of processor time for
// one report.
type shardRate struct{ rate, member, reading, publishing float64 }

func runShards(ctx context.Context, env experiment.Env, dir string) (_ *experiment.Result, err error) {
	b := &shardBench{snapshots: 6}
	repeats := env.RepeatsOr(5)
	if env.Quick {
		b.snapshots, repeats = 3, env.RepeatsOr(1)
	}
	busy := loadAverage()
	if b.work, err = os.MkdirTemp(dir, "hushgrad-shards-"); err != nil {
		return nil, fmt.Errorf("--dir: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.work)) }()
	env.Progress.Describe("build")
	if b.binary, err = Build(ctx, b.work); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	if err := b.prepare(env); err != nil {
		return nil, err
	}
	found := map[int][]shardRate{}
	env.Progress.Describe("shards")
	env.Progress.Grow(2 * repeats)
	for repeat := range repeats {
		for shards := 1; shards <= 2; shards++ {
			got, err := env.Checkpoint.Do(fmt.Sprintf("%d shards, %d", shards, repeat), func() ([]float64, error) {
				r, err := b.measure(ctx, shards, filepath.Join(b.work, fmt.Sprintf("%d-%d", shards, repeat)))
				return []float64{r.rate, r.member, r.reading, r.publishing}, err
			})
			if err != nil {
				return nil, errors.Join(ctx.Err(), fmt.Errorf("%d shards: %w", shards, err))
			}
			found[shards] = append(found[shards], shardRate{got[0], got[1], got[2], got[3]})
			env.Progress.Step()
		}
	}
	return shardsReport(found, repeats, busy), nil
}

// prepare seals what the shuffler sends, for two shards.
func (b *shardBench) prepare(env experiment.Env) (err error) {
	if b.load, err = newLoad(env, 8, 1); err != nil {
		return err
	}
	if b.keys, err = seal.OpenKeys(filepath.Join(b.work, "keys"), seal.X25519); err != nil {
		return err
	}
	key, err := b.keys.Newest()
	if err != nil {
		return err
	}
	b.round = b.load.round
	b.round.ID, b.round.Shuffler, b.round.SealKey = "shards", "shuffler.example", key.Public()
	sealer, err := seal.NewItemSealer(b.round, b.load.mechanism)
	if err != nil {
		return err
	}
	reports := make([][]byte, 2*b.snapshots*perSnapshot)
	for i := range reports {
		at := i % poolReports * b.load.size
		reports[i] = b.load.pool[at : at+b.load.size]
	}
	b.sealed, err = sealer.Items(reports)
	return err
}

// measure lets members with one processor each count what a broker has.
func (b *shardBench) measure(ctx context.Context, shards int, dir string) (r shardRate, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return r, err
	}
	broker, err := Start(ctx, b.binary, "--role", "broker", "--data", filepath.Join(dir, "broker"))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, broker.Stop()) }()
	nc, err := nats.Connect(broker.address, jetstream.Options()...)
	if err != nil {
		return r, err
	}
	defer nc.Close()
	c, err := jetstream.Connect(ctx, nc, jetstream.Config{Shards: shards, Replicas: 1})
	if err != nil {
		return r, err
	}
	leader, err := freeAddress()
	if err != nil {
		return r, err
	}
	join := func() (members []*Process, err error) {
		for i := range shards {
			m, err := Start(ctx, b.binary, "--role", "member", "--nats", broker.address, "--leader", leader, "--shard", strconv.Itoa(i), "--shards", strconv.Itoa(shards),
				"--data", filepath.Join(dir, fmt.Sprint("member", i)), "--seal-keys", filepath.Join(b.work, "keys"), "--processors", "1")
			if err != nil {
				return members, err
			}
			members = append(members, m)
		}
		return members, nil
	}
	members, err := join()
	if err == nil {
		err = b.publish(ctx, c, leader, b.sealed[:shards*b.snapshots*perSnapshot], func() error { return stopAll(members) }, broker, &r)
	}
	if err != nil {
		return r, errors.Join(err, stopAll(members))
	}
	if members, err = join(); err == nil {
		err = b.count(ctx, c, shards, append(members, broker), &r)
	}
	return r, errors.Join(err, stopAll(members))
}

// publish opens the round, stops the members, and publishes the reports.
func (b *shardBench) publish(ctx context.Context, c *jetstream.Cluster, leader string, sealed [][]byte, stop func() error, broker *Process, r *shardRate) error {
	conn, err := grpc.NewClient(leader, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := client.NewOperator(conn).OpenRound(ctx, b.round); err != nil {
		return err
	}
	if err := stop(); err != nil {
		return err
	}
	before, err := processorSeconds(broker.cmd.Process.Pid)
	if err != nil {
		return err
	}
	digest, err := b.round.Digest()
	if err != nil {
		return err
	}
	for part := range slices.Chunk(sealed, sealedPerMessage) {
		if err := c.Publish(ctx, digest, part); err != nil {
			return err
		}
	}
	after, err := processorSeconds(broker.cmd.Process.Pid)
	r.publishing = (after - before) / float64(len(sealed))
	return err
}

// point is how many reports a shard had counted at a time.
type point struct {
	at      time.Time
	reports int64
}

// count watches members until they have counted everything.
func (b *shardBench) count(ctx context.Context, c *jetstream.Cluster, shards int, processes []*Process, r *shardRate) error {
	total := int64(shards * b.snapshots * perSnapshot)
	broker := processes[len(processes)-1]
	before, err := processorSeconds(broker.cmd.Process.Pid)
	if err != nil {
		return err
	}
	points := make([][]point, shards)
	for done := int64(0); done < total; {
		status, err := c.Status(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		done = 0
		for i, s := range status {
			done += s.Reports
			if n := len(points[i]); s.Reports > 0 && (n == 0 || points[i][n-1].reports < s.Reports) {
				points[i] = append(points[i], point{s.Snapshot, s.Reports})
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	for i, p := range points {
		if len(p) < 3 {
			return fl.Invalid("snapshots", len(p), "must be at least 3 of shard %d", i)
		}
		first, last := p[0], p[len(p)-2] // the last one may have waited for its time
		r.rate += float64(last.reports-first.reports) / last.at.Sub(first.at).Seconds()
	}
	for _, p := range processes {
		used, err := processorSeconds(p.cmd.Process.Pid)
		if err != nil {
			return err
		}
		if p == broker {
			r.reading = (used - before) / float64(total)
		} else {
			r.member += used / float64(total)
		}
	}
	return nil
}

func stopAll(processes []*Process) (err error) {
	for _, p := range processes {
		err = errors.Join(err, p.Stop())
	}
	return err
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
