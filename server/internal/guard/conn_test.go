package guard

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestWhatIsReadIsHeld(t *testing.T) {
	ours, theirs := net.Pipe()
	g := quiet(generous())
	c := &conn{Conn: ours, guard: g}
	g.admit(c)
	defer c.Close()
	defer theirs.Close()
	go func() { _, _ = theirs.Write(make([]byte, 100)) }()
	if _, err := io.ReadFull(c, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if got := g.Load().HeldBytes; got != 100 {
		t.Errorf("%d bytes are held, 100 were read", got)
	}
}

// What is left when the last stream ends was framing.
func TestAnOpenStreamIsHeldUntilItEnds(t *testing.T) {
	g := quiet(generous())
	c := piped(t, g)
	held := func(what string, want int64) {
		t.Helper()
		if got := g.Load().HeldBytes; got != want {
			t.Errorf("%s: %d bytes are held, want %d", what, got, want)
		}
	}
	c.begin()
	c.begin()
	held("two streams", 2*streamBytes)
	c.take(100)
	c.end(false)
	held("one stream and 100 bytes", streamBytes+100)
	c.end(false)
	held("no stream", 0)
}

func TestACompleteMessageGivesBackItsFrames(t *testing.T) {
	g := quiet(generous())
	c := piped(t, g)
	c.begin()
	c.begin()
	c.take(1000 + 5 + 9) // a message in one frame
	c.complete(1000)
	if got := g.Load().HeldBytes; got > 2*streamBytes {
		t.Errorf("%d bytes are held beside two streams", got-2*streamBytes)
	}
}

// A connection may give up wastedStreams calls, or as many as it completed messages.
func TestCallsThatMayBeGivenUp(t *testing.T) {
	for _, messages := range []int{0, wastedStreams / 2, 2 * wastedStreams} {
		g := quiet(generous())
		c := piped(t, g)
		for range messages {
			c.complete(1)
		}
		waste := func() {
			c.begin()
			c.end(true)
		}
		allowed := max(wastedStreams, messages)
		for range allowed {
			waste()
		}
		if c.isShut() {
			t.Errorf("after %d messages the connection was closed before it gave up %d calls", messages, allowed)
		}
		waste()
		waste() // was on its way
		if load := g.Load(); !c.isShut() || load.EvictedResets != 1 || load.Connections != 0 {
			t.Errorf("after %d messages and %d calls given up: load %+v, want one connection closed, once", messages, allowed+2, load)
		}
	}
}

// A call that was answered is not given up, also when its client cancels others.
func TestAnsweredCallsAreNotGivenUp(t *testing.T) {
	t.Parallel() // it mostly waits
	g := quiet(generous())
	conn := serve(t, g, echo)
	for range wastedStreams + 20 {
		if err := unary(t, conn, 1); err != nil {
			t.Fatal(err)
		}
	}
	for range wastedStreams + 10 {
		giveUp(t, g, conn, "/test/Stream")
	}
	if err := unary(t, conn, 1); err != nil || g.Load().EvictedResets != 0 {
		t.Errorf("error %v, load %+v: want the connection kept", err, g.Load())
	}
}

// giveUp begins a call without a message and cancels it.
func giveUp(t *testing.T, g *Guard, conn *grpc.ClientConn, method string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server has the call", func() bool { return g.Load().Streams == 1 })
	cancel()
	eventually(t, "the call is over", func() bool { return g.Load().Streams == 0 })
}

// The server waits for the message of a unary call before there is a handler.
func TestAUnaryCallWithoutAMessageEnds(t *testing.T) {
	l := generous()
	l.Progress = 50 * time.Millisecond
	g := quiet(l)
	stream, err := serve(t, g, echo).NewStream(t.Context(), &grpc.StreamDesc{}, "/test/Unary")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(nil); status.Code(err) != codes.DeadlineExceeded || g.Load().Stalled != 1 {
		t.Errorf("%v, load %+v, want DEADLINE_EXCEEDED", err, g.Load())
	}
}

func TestACallThatIsOverDoesNotStall(t *testing.T) {
	t.Parallel() // it mostly waits
	l := generous()
	l.Progress = 300 * time.Millisecond
	g := quiet(l)
	conn := serve(t, g, echo)
	if err := unary(t, conn, 1); err != nil {
		t.Fatal(err)
	}
	giveUp(t, g, conn, "/test/Unary")
	after := g.Load().Stalled // 1 on a machine that took so long to give up
	time.Sleep(l.Progress + 100*time.Millisecond)
	if got := g.Load().Stalled; got != after {
		t.Errorf("%d calls had stalled when the call was over, %d later", after, got)
	}
}

// While a message waits for room the server is slow and not the peer. A message that costs more
// than there is gets all the room.
func TestWaitingForRoomIsNotThePeersFault(t *testing.T) {
	l := generous()
	l.DecodingBytes = 1000
	g := quiet(l)
	c := &call{Context: t.Context(), guard: g, timer: time.AfterFunc(time.Hour, func() {})}
	if err := c.enter(5000); err != nil || g.Load().DecodingBytes != 1000 {
		t.Errorf("error %v, load %+v, want 1000 bytes at work", err, g.Load())
	}
	if c.timer.Stop() {
		t.Error("the clock of the peer runs")
	}
	c.leave()
	if c.leave(); g.Load().DecodingBytes != 0 || !g.decoding.TryAcquire(1000) {
		t.Errorf("load %+v, want all room free", g.Load())
	}
}
