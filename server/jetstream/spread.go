package jetstream

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// spreadEvery is between two looks at where the lanes are led.
const spreadEvery = time.Second

// keepSpread spreads the lanes until ctx ends. Every member does, so that it does not wait for an election.
func (c *Cluster) keepSpread(ctx context.Context) {
	for ctx.Err() == nil {
		c.spread(ctx)
		_ = sleep(ctx, spreadEvery)
	}
}

// spread lets another node lead a lane whose node leads two, if there is one that leads none: the
// loss of one node then stops one lane.
func (c *Cluster) spread(ctx context.Context) {
	infos := make([]*jetstream.StreamInfo, len(c.lanes))
	led := map[string]int{} // lanes by leader
	for lane, s := range c.lanes {
		info, err := c.info(ctx, s)
		if err != nil || info.Cluster == nil || info.Cluster.Leader == "" {
			return // an election, or one node
		}
		infos[lane] = info
		led[info.Cluster.Leader]++
	}
	for _, info := range infos {
		if led[info.Cluster.Leader] < 2 {
			continue
		}
		for _, peer := range info.Cluster.Replicas {
			if led[peer.Name] == 0 && peer.Current && !peer.Offline && peer.Lag == 0 {
				c.stepDown(ctx, info.Config.Name, peer.Name)
				return // and look again later
			}
		}
	}
}

// stepDown asks the leader of a stream to leave its place to a node.
func (c *Cluster) stepDown(ctx context.Context, stream, node string) {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	request, err := json.Marshal(map[string]any{"placement": map[string]string{"preferred": node}})
	if err != nil {
		return
	}
	if _, err := c.nc.RequestWithContext(ctx, "$JS.API.STREAM.LEADER.STEPDOWN."+stream, request); err == nil {
		c.cfg.Logger.Debug("a lane gets another leading node", "stream", stream, "node", node)
	}
}
