package jetstream

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/server"
)

// Status returns how the shards stand. Cost: a request for each shard and lane.
func (c *Cluster) Status(ctx context.Context) (_ []server.Shard, err error) {
	defer prefix.Error(&err, "jetstream")
	return c.status(ctx, map[[32]byte]int64{})
}

// status adds the reports of each round to counts, too.
func (c *Cluster) status(ctx context.Context, counts map[[32]byte]int64) ([]server.Shard, error) {
	shards := make([]server.Shard, c.cfg.Shards)
	for i := range shards {
		m, at, err := c.manifest(ctx, i)
		if err != nil {
			return nil, err
		}
		shards[i] = server.Shard{Number: i, Holder: m.Holder, Snapshot: at}
		for _, e := range m.Rounds {
			counts[e.digest] += e.Reports
			shards[i].Reports += e.Reports
			shards[i].Rejected += e.Rejected
		}
	}
	waiting, err := c.waiting(ctx)
	if err != nil {
		return nil, err
	}
	for i, messages := range waiting {
		shards[i].Waiting = messages
	}
	return shards, nil
}

// waiting returns how many messages of each shard are in the lanes.
func (c *Cluster) waiting(ctx context.Context) ([]int64, error) {
	messages := make([]int64, c.cfg.Shards)
	for lane, s := range c.lanes {
		info, err := c.info(ctx, s, jetstream.WithSubjectFilter(">"))
		if err != nil {
			return nil, err
		}
		for shard := range messages {
			messages[shard] += int64(info.State.Subjects[c.reportSubject(lane, shard)])
		}
	}
	return messages, nil
}

func (c *Cluster) info(ctx context.Context, s jetstream.Stream, opts ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	return s.Info(ctx, opts...)
}
