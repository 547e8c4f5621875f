package guard

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// call is a gRPC call: a context that ends when the peer makes no progress.
type call struct {
	context.Context
	guard  *Guard
	conn   *conn
	cancel context.CancelCauseFunc
	timer  *time.Timer // runs while the server waits for the peer

	received atomic.Bool  // a complete message
	cost     atomic.Int64 // of the message at work
	// body is what the conn holds for a body that becomes messages.
	body atomic.Int64
	// over, if not nil, ends what reads the peer's bytes. It is called once the answer is there.
	over func()
}

var errStalled = errors.New("the peer makes no progress")

type (
	callKey struct{}
	connKey struct{}
)

// callOf returns the call of a context, or nil for one that begin did not see.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// Value implements context.Context.
func (c *call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// Err implements context.Context. gRPC makes the status of it.
func (c *call) Err() error {
	err := c.Context.Err()
	if err != nil && context.Cause(c.Context) == errStalled {
		return context.DeadlineExceeded
	}
	return err
}

// reason returns an error of the stream, or DEADLINE_EXCEEDED where its cause is that the peer made
// no progress.
func (c *call) reason(err error) error {
	if err != nil && c.Context.Err() != nil && context.Cause(c.Context) == errStalled {
		return status.FromContextError(context.DeadlineExceeded).Err()
	}
	return err
}

// begin is the tap.ServerInHandle. It sees every stream before a goroutine exists for it. It lets
// other connections go first, since one read of a connection can begin a hundred calls.
func (g *Guard) begin(ctx context.Context, _ *tap.Info) (context.Context, error) {
	conn, ok := ctx.Value(connKey{}).(*conn)
	if !ok {
		return ctx, nil
	}
	runtime.Gosched()
	c := &call{guard: g, conn: conn}
	c.Context, c.cancel = context.WithCancelCause(ctx)
	c.timer = time.AfterFunc(g.limits.Progress, c.stall) // for the first message
	g.streams.Add(1)
	conn.begin()
	context.AfterFunc(c.Context, func() { // gRPC ends the context with the stream
		c.timer.Stop()
		g.streams.Add(-1)
		conn.give(c.body.Swap(0))
		conn.end(!c.received.Load())
	})
	return c, nil
}

func (c *call) stall() {
	c.guard.stalled.Add(1)
	c.cancel(errStalled)
}

// waits starts the clock of the peer, works stops it.
func (c *call) waits() { c.timer.Reset(c.guard.limits.Progress) }
func (c *call) works() { c.timer.Stop() }

// enter waits until there is room to decode and handle n bytes.
func (c *call) enter(n int) error {
	c.works()
	cost := min(c.guard.limits.DecodingCost(n), c.guard.limits.DecodingBytes)
	if err := c.guard.decoding.Acquire(c, cost); err != nil {
		return err
	}
	c.guard.decodingNow.Add(cost)
	c.cost.Store(cost)
	return nil
}

// leave makes room again.
func (c *call) leave() {
	if cost := c.cost.Swap(0); cost > 0 {
		c.guard.decodingNow.Add(-cost)
		c.guard.decoding.Release(cost)
	}
}

// stream is the stream of a call, as its handler sees it. A message is at work until its
// handler asks for the next one, sends one, or returns.
type stream struct {
	grpc.ServerStream
	call *call
}

func intercept(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	c := callOf(ss.Context())
	if c == nil {
		return handler(srv, ss)
	}
	defer c.leave()
	return handler(srv, stream{ss, c})
}

// RecvMsg implements grpc.ServerStream.
func (s stream) RecvMsg(m any) error {
	s.call.leave()
	s.call.waits()
	defer s.call.works()
	return s.call.reason(s.ServerStream.RecvMsg(&incoming{m, s.call}))
}

// SendMsg implements grpc.ServerStream.
func (s stream) SendMsg(m any) error {
	s.call.leave()
	s.call.waits()
	defer s.call.works()
	return s.call.reason(s.ServerStream.SendMsg(m))
}

// observer is the stats.Handler that tells a guard about complete messages.
type observer struct{}

// TagConn implements stats.Handler. What was read before was the handshake.
func (observer) TagConn(ctx context.Context, info *stats.ConnTagInfo) context.Context {
	a, ok := info.RemoteAddr.(address)
	if !ok {
		return ctx
	}
	a.conn.mu.Lock()
	a.conn.settle()
	a.conn.mu.Unlock()
	return context.WithValue(ctx, connKey{}, a.conn)
}

// HandleConn implements stats.Handler.
func (observer) HandleConn(context.Context, stats.ConnStats) {}

// TagRPC implements stats.Handler.
func (observer) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (observer) HandleRPC(ctx context.Context, event stats.RPCStats) {
	c := callOf(ctx)
	if c == nil {
		return
	}
	switch e := event.(type) {
	case *stats.InHeader:
		c.conn.give(int64(e.WireLength))
	case *stats.InPayload:
		c.works()
		c.received.Store(true)
		if c.over == nil {
			c.conn.complete(e.WireLength)
		} else { // it was longer on the wire
			c.conn.complete(0)
			c.conn.give(c.body.Swap(0))
		}
	case *stats.OutPayload:
		c.conn.give(int64(e.WireLength/256 + 32)) // the peer's WINDOW_UPDATE frames
	case *stats.End:
		if c.over != nil {
			c.over()
		}
	}
}
