package jetstream

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ShardStatus is how a shard stands, as its last snapshot says.
type ShardStatus struct {
	Shard    int
	Holder   string    // the member that does its work; random, new with each process
	Reports  int64     // counted, in open rounds
	Rejected int64     // that do not count, in open rounds
	Snapshot time.Time // when the manifest was written last, by the clock of a broker
	Waiting  uint64    // messages that no snapshot covers yet
}

// Status returns how the shards stand. Cost: a request for each shard and lane.
func (c *Cluster) Status(ctx context.Context) ([]ShardStatus, error) {
	shards, err := c.status(ctx, map[[32]byte]int64{})
	if err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	return shards, nil
}

// status adds the reports of each round to counts, too.
func (c *Cluster) status(ctx context.Context, counts map[[32]byte]int64) ([]ShardStatus, error) {
	shards := make([]ShardStatus, c.cfg.Shards)
	for i := range shards {
		m, at, err := c.manifest(ctx, i)
		if err != nil {
			return nil, err
		}
		shards[i] = ShardStatus{Shard: i, Holder: m.Holder, Snapshot: at}
		for _, e := range m.Rounds {
			counts[e.digest] += e.Reports
			shards[i].Reports += e.Reports
			shards[i].Rejected += e.Rejected
		}
	}
	for lane, s := range c.lanes {
		info, err := c.info(ctx, s, jetstream.WithSubjectFilter(">"))
		if err != nil {
			return nil, err
		}
		for i := range shards {
			shards[i].Waiting += info.State.Subjects[c.reportSubject(lane, i)]
		}
	}
	return shards, nil
}

func (c *Cluster) info(ctx context.Context, s jetstream.Stream, opts ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	return s.Info(ctx, opts...)
}
