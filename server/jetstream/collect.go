package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/seal"
)

// counters are the shards as the leader's server sees them.
type counters struct {
	*Cluster
	keys *seal.Keys
	// confirm returns nil if no other member has begun to lead. Then every round that was seen before
	// is known here, or has ended.
	confirm func() error

	mu     sync.Mutex
	open   map[[32]byte]bool // rounds of the server that have not ended
	counts map[[32]byte]int64
	shards []server.Shard
}

func newCounters(c *Cluster, keys *seal.Keys, confirm func() error) *counters {
	return &counters{Cluster: c, keys: keys, confirm: confirm, open: map[[32]byte]bool{}, counts: map[[32]byte]int64{}}
}

// Open implements server.Counters.
func (c *counters) Open(ctx context.Context, r fl.Round) error {
	m, err := openMessage(r)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.open[m.digest] = true
	c.mu.Unlock()
	_, err = c.publisher.everywhere(ctx, m)
	return err
}

// Counted implements server.Counters.
func (c *counters) Counted(r fl.Round) int64 {
	digest, err := r.Digest()
	if err != nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[digest]
}

// End implements server.Counters. The shards learn of it from look.
func (c *counters) End(r fl.Round) {
	if digest, err := r.Digest(); err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, digest)
	}
}

// Sum implements server.Counters.
func (c *counters) Sum(ctx context.Context, r fl.Round, m fl.Mechanism) (fl.Aggregator, int64, error) {
	t, err := newTally(r, c.keys, len(c.lanes))
	if err != nil {
		return nil, 0, err
	}
	fences, err := c.publisher.everywhere(ctx, message{kind: kindFence, digest: t.digest})
	if err != nil {
		return nil, 0, err
	}
	sum, total := m.NewAggregator(), int64(0)
	for shard := range c.cfg.Shards {
		fence := make([]uint64, len(c.lanes))
		for lane := range fence {
			fence[lane] = fences[lane][shard]
		}
		part, reports, err := c.part(ctx, t, shard, fence)
		if err != nil {
			return nil, 0, err
		}
		if reports > 0 {
			if err := guarded(func() error { return sum.Merge(part) }); err != nil {
				return nil, 0, err
			}
		}
		if total += reports; total > fl.MaxReports {
			return nil, 0, fl.Invalid("reports", total, "must be at most %d in a round", fl.MaxReports)
		}
	}
	return sum, total, nil
}

// part returns what a shard has added up by a fence. It waits until the shard has come there.
func (c *counters) part(ctx context.Context, t *tally, shard int, fence []uint64) (sum fl.Aggregator, reports int64, err error) {
	for {
		m, _, err := c.manifest(ctx, shard)
		if lasting(err) {
			return nil, 0, err
		}
		if e, known := m.find(t.digest); err == nil && known && m.past(fence) {
			if e.Reports == 0 {
				return nil, 0, nil
			}
			// The next snapshot deletes the object, so this is not tried for long.
			trying, cancel := context.WithTimeout(ctx, 2*attempt)
			sum, err := c.sum(trying, t, shard, e.Sum)
			cancel()
			if err == nil || lasting(err) {
				return sum, e.Reports, err
			}
		}
		if sleep(ctx, pause/4) != nil {
			return nil, 0, ctx.Err()
		}
	}
}

// manifest reads the manifest of a shard. It may be an older one.
func (c *Cluster) manifest(ctx context.Context, shard int) (manifest, time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	found, err := c.table.Get(ctx, manifestKey(shard))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return manifest{Positions: make([]uint64, len(c.lanes))}, time.Time{}, nil
	}
	if err != nil {
		return manifest{}, time.Time{}, err
	}
	m, err := parseManifest(found.Value(), len(c.lanes))
	if err != nil {
		return m, time.Time{}, fmt.Errorf("manifest of shard %d: %w", shard, err)
	}
	return m, found.Created(), nil
}

// watch looks at the shards once in a second until ctx ends.
func (c *counters) watch(ctx context.Context) {
	for ctx.Err() == nil {
		c.look(ctx)
		_ = sleep(ctx, time.Second)
	}
}

// look reads all manifests, and says to the shards which rounds have ended.
func (c *counters) look(ctx context.Context) {
	counts := map[[32]byte]int64{}
	shards, err := c.status(ctx, counts)
	if err != nil {
		return // the brokers are busy
	}
	c.mu.Lock()
	c.counts, c.shards = counts, shards
	var ended [][32]byte
	for digest := range counts {
		if !c.open[digest] {
			ended = append(ended, digest)
		}
	}
	c.mu.Unlock()
	if len(ended) == 0 || c.confirm() != nil {
		return
	}
	for _, digest := range ended {
		trying, cancel := context.WithTimeout(ctx, 5*attempt)
		_, _ = c.publisher.everywhere(trying, message{kind: kindEnd, digest: digest}) // or with the next look
		cancel()
	}
}

// Shards implements server.Counters: how they stood at the last look, about a second ago.
func (c *counters) Shards() []server.Shard {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.shards)
}
