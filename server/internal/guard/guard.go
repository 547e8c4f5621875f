package guard

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// Limits are the bounds of one listener. All fields are required but the last three.
type Limits struct {
	// Connections bounds the connections at the same time.
	Connections int
	// HeldBytes bounds what all peers together have sent that is no complete message yet.
	HeldBytes int64
	// DecodingBytes bounds the cost of the messages that are decoded or handled.
	DecodingBytes int64
	// DecodingCost is the memory that decoding and handling a message of n bytes takes.
	DecodingCost func(n int) int64
	// MessageBytes bounds one message of a stream, UnaryBytes one of a unary call.
	MessageBytes, UnaryBytes int
	// Progress is how long a call may wait for its peer.
	Progress time.Duration
	// Idle is how long a connection may have no call in progress. After Age it takes no new
	// calls, and after Grace more it is closed. 0 is for ever.
	Idle, Age, Grace time.Duration
}

// Guard keeps the limits of one listener. It is safe for concurrent use.
type Guard struct {
	limits   Limits
	logger   *slog.Logger
	decoding *semaphore.Weighted

	mu    sync.Mutex
	conns map[*conn]struct{}
	said  time.Time // when an eviction was logged

	held, decodingNow, streams                         atomic.Int64
	evictedFull, evictedMemory, evictedResets, stalled atomic.Int64
}

// New returns a guard. The logger is told, at most every ten seconds, that connections are
// closed.
func New(l Limits, logger *slog.Logger) *Guard {
	return &Guard{limits: l, logger: logger, decoding: semaphore.NewWeighted(l.DecodingBytes), conns: map[*conn]struct{}{}}
}

// drawn is how many connections are looked at when one has to go for a new one.
const drawn = 8

// admit adds a connection, in the place of an old one when there are too many.
func (g *Guard) admit(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.conns) >= g.limits.Connections {
		var out *conn
		best, seen := 0, 0
		for other := range g.conns { // in random order
			if worth := other.worth(); out == nil || worth < best {
				out, best = other, worth
			}
			if seen++; seen == drawn || best == worthless {
				break
			}
		}
		g.evictedFull.Add(1)
		g.evict(out, "too many connections")
	}
	g.conns[c] = struct{}{}
}

// relieve closes connections until no more is held than allowed.
func (g *Guard) relieve() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for now := time.Now(); g.held.Load() > g.limits.HeldBytes; {
		var out *conn
		worst := 0.0
		for c := range g.conns {
			if burden := c.burden(now); burden > worst {
				out, worst = c, burden
			}
		}
		if out == nil {
			return // those that held it are closed already
		}
		g.evictedMemory.Add(1)
		g.evict(out, "too many unfinished bytes")
	}
}

// calm closes a connection that begins calls to give them up.
func (g *Guard) calm(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.evictedResets.Add(1)
	g.evict(c, "too many calls given up")
}

// evict closes a connection. The caller holds g.mu.
func (g *Guard) evict(c *conn, why string) {
	delete(g.conns, c)
	c.shut()
	if now := time.Now(); now.Sub(g.said) > 10*time.Second {
		g.said = now
		g.logger.Warn("closing connections", "why", why, "connections", len(g.conns), "held_bytes", g.held.Load(), "streams", g.streams.Load())
	}
}

func (g *Guard) remove(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.conns, c)
}

// Load is what one listener has to bear, and what its guard did about it.
type Load struct {
	Connections, Streams     int64
	HeldBytes, DecodingBytes int64
	// Since the start: connections closed because there were too many, because they held too
	// much, or because they gave up their calls, and calls ended because their peers made no
	// progress.
	EvictedFull, EvictedMemory, EvictedResets, Stalled int64
}

// Load returns the present load.
func (g *Guard) Load() Load {
	g.mu.Lock()
	connections := int64(len(g.conns))
	g.mu.Unlock()
	return Load{
		Connections: connections, Streams: g.streams.Load(),
		HeldBytes: g.held.Load(), DecodingBytes: g.decodingNow.Load(),
		EvictedFull: g.evictedFull.Load(), EvictedMemory: g.evictedMemory.Load(), EvictedResets: g.evictedResets.Load(),
		Stalled: g.stalled.Load(),
	}
}
