package jetstream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

// Member is one process of a cluster. It works on its own shard, on shards whose members are gone,
// and as the leader when it is elected.
type Member struct {
	// Shard is the member's own shard, in [0, Shards), or −1 for a member that prefers none and
	// takes what is free.
	Shard int
	// Journal keeps ids of reports, below the prefix "jetstream/". It stays the caller's. Required.
	// Each member needs one of its own. What it has is a copy.
	Journal journal.Journal
	// Seal holds the keys to which reports are sealed. All members need the same. Required.
	Seal *seal.Keys
	// Server has the settings of the leader's server, whose Journal, Seal and Counters are filled in. Its
	// Metrics get the figures of the member, too.
	Server server.Config
	// Listen opens the listeners of the leader's server, when this member is elected. Required.
	Listen func() (server.Listeners, error)
	// Led is told of the server when this member is elected, and of nil when it leads no more.
	// Default: nobody is.
	Led func(*server.Server)
}

func (m Member) check(shards int) error {
	switch {
	case m.Shard < -1 || m.Shard >= shards:
		return fl.Invalid("Shard", m.Shard, "must be in [0, %d), or -1", shards)
	case m.Journal == nil:
		return fl.Invalid("Journal", "nothing", "is required")
	case m.Seal == nil:
		return fl.Invalid("Seal", "nothing", "is required")
	case m.Listen == nil:
		return fl.Invalid("Listen", "nothing", "is required")
	}
	return nil
}

// Serve works as a member of the cluster until ctx ends, and returns nil then. Failures of the
// brokers, and of single shards, are logged and tried again.
func (c *Cluster) Serve(ctx context.Context, m Member) error {
	if err := m.check(c.cfg.Shards); err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	holder := rand.Text() // a name that no other member has
	shown := &figures{Cluster: c, ctx: ctx}
	for i := range c.cfg.Shards {
		shown.shards = append(shown.shards, newShard(c, i, holder, m.Seal, m.Journal))
	}
	if r := m.Server.Metrics; r != nil {
		if err := r.Register(shown); err != nil {
			return fmt.Errorf("jetstream: %w", fl.Invalid("Metrics", err, "must have no figures of another member"))
		}
		defer r.Unregister(shown)
	}
	var working sync.WaitGroup
	working.Go(func() {
		c.campaign(ctx, &lease{table: c.table, wrote: c.wrote, key: "leader", holder: holder, preferred: true}, func(ctx context.Context) error { return c.lead(ctx, m, shown) })
	})
	working.Go(func() { c.keepSpread(ctx) })
	for i, s := range shown.shards {
		l := &lease{table: c.table, wrote: c.wrote, key: fmt.Sprintf("shard.%d", i), holder: holder, preferred: i == m.Shard}
		working.Go(func() { c.campaign(ctx, l, s.work) })
	}
	working.Wait()
	return nil
}

// campaign does some work whenever this member has the lease, until ctx ends.
func (c *Cluster) campaign(ctx context.Context, l *lease, work func(context.Context) error) {
	logger := c.cfg.Logger.With("lease", l.key)
	for l.acquire(ctx) {
		logger.Debug("lease taken")
		working, stop := context.WithCancel(ctx)
		var holding sync.WaitGroup
		var lost error
		holding.Go(func() {
			lost = l.hold(working)
			stop()
		})
		err := work(working)
		stop()
		holding.Wait()
		if !errors.Is(lost, errFenced) {
			l.release(context.WithoutCancel(ctx))
		}
		switch {
		case lost != nil:
			logger.Info("lease lost", "reason", lost)
		case err != nil:
			logger.Error("work failed, trying again", "error", err)
		}
		if err != nil {
			if !errors.Is(err, errFenced) { // a member that has taken over can do the work
				l.failed = time.Now()
			}
			_ = sleep(ctx, leaseTime/2)
		}
	}
}
