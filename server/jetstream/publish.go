package jetstream

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/server/seal"
)

const (
	// patience is how long a lane may take to acknowledge before the message goes by another one.
	patience = attempt / 2
	// restTime is how long a lane that did not acknowledge is avoided: an election takes about so
	// long.
	restTime = 5 * time.Second
	// envelopeBytes is room in a broker's largest payload for the rest of a message.
	envelopeBytes = 1 << 10
)

// publisher sends messages by a lane that answers.
type publisher struct {
	*Cluster
	mu      sync.Mutex
	next    int
	resting []time.Time // until when a lane is avoided
}

// lane returns the lane for the next message: in turn, without those that rest. If all do, it is the
// one that was tried longest ago.
func (p *publisher) lane() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	best, now := -1, time.Now()
	for i := range p.resting {
		lane := (p.next + 1 + i) % len(p.resting)
		if p.resting[lane].Before(now) {
			best = lane
			break
		}
		if best < 0 || p.resting[lane].Before(p.resting[best]) {
			best = lane
		}
	}
	p.next = best
	return best
}

func (p *publisher) rest(lane int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resting[lane] = time.Now().Add(restTime)
}

// send publishes a message to a shard by any lane, and returns when a majority of its nodes has it
// on disk. It tries until ctx ends.
func (p *publisher) send(ctx context.Context, shard int, data []byte) error {
	for {
		lane := p.lane()
		_, err := p.publish(ctx, lane, shard, data)
		if err == nil || ctx.Err() != nil || lasting(err) {
			return err
		}
		p.rest(lane)
		p.cfg.Logger.Debug("a lane did not acknowledge", "lane", lane, "shard", shard, "error", err)
		if sleep(ctx, pause) != nil {
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// publish sends a message by one lane, once, and returns its number there.
func (p *publisher) publish(ctx context.Context, lane, shard int, data []byte) (uint64, error) {
	trying, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ack, err := p.js.Publish(trying, p.reportSubject(lane, shard), data,
		jetstream.WithExpectStream(p.lanes[lane].CachedInfo().Config.Name), jetstream.WithRetryAttempts(0))
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// everywhere sends a message by every lane to every shard, and returns the numbers by lane and
// shard. It tries until ctx ends.
func (p *publisher) everywhere(ctx context.Context, m message) ([][]uint64, error) {
	data := m.marshal()
	numbers := make([][]uint64, len(p.lanes))
	group, ctx := errgroup.WithContext(ctx)
	for lane := range numbers {
		numbers[lane] = make([]uint64, p.cfg.Shards)
		for shard := range numbers[lane] {
			group.Go(func() error {
				return again(ctx, func(ctx context.Context) (err error) {
					numbers[lane][shard], err = p.publish(ctx, lane, shard, data)
					return err
				})
			})
		}
	}
	return numbers, group.Wait()
}

// Publish publishes sealed reports of the round with a digest, each to its shard, as a shuffler does.
// It returns when the brokers have them on disk, and tries until ctx ends. All have one size. The
// error is a *fl.ParamError (wrapped) for other reports, or for none.
func (c *Cluster) Publish(ctx context.Context, digest [32]byte, sealed [][]byte) (err error) {
	defer prefix.Error(&err, "jetstream")
	if len(sealed) == 0 {
		return fl.Invalid("sealed", 0, "must be at least one report")
	}
	return c.publisher.forward(ctx, digest, slices.Concat(sealed...), len(sealed[0]))
}

// forward publishes sealed reports of one size, each to its shard.
func (p *publisher) forward(ctx context.Context, digest [32]byte, sealed []byte, size int) error {
	room := int(p.nc.MaxPayload()) - envelopeBytes
	if size > room {
		return fl.Invalid("sealed", fmt.Sprintf("%d bytes", size), "must have at most %d each, the largest payload of the brokers", room)
	}
	reports, err := seal.Split(sealed, size)
	if err != nil {
		return err
	}
	bodies := make([][]byte, p.cfg.Shards)
	group, ctx := errgroup.WithContext(ctx)
	send := func(shard int) {
		body := bodies[shard]
		bodies[shard] = nil
		group.Go(func() error { return p.send(ctx, shard, message{kindReports, digest, body}.marshal()) })
	}
	for _, report := range reports {
		shard := shardOf(seal.ID(report), p.cfg.Shards)
		if len(bodies[shard])+size > room {
			send(shard)
		}
		bodies[shard] = append(bodies[shard], report...)
	}
	for shard, body := range bodies {
		if len(body) > 0 {
			send(shard)
		}
	}
	return group.Wait()
}
