package guard

import (
	"io"
	"log/slog"
	"net"
	"testing"
	"time"
)

// generous are small limits that nothing reaches.
func generous() Limits {
	return Limits{
		Connections: 10, HeldBytes: 1 << 20, DecodingBytes: 1 << 20, DecodingCost: func(n int) int64 { return int64(n) },
		MessageBytes: 1 << 20, UnaryBytes: 1 << 10, Progress: time.Minute,
	}
}

func quiet(l Limits) *Guard { return New(l, slog.New(slog.DiscardHandler)) }

// piped adds a connection to a guard.
func piped(t *testing.T, g *Guard) *conn {
	t.Helper()
	ours, theirs := net.Pipe()
	c := &conn{Conn: ours, guard: g}
	t.Cleanup(func() {
		_ = theirs.Close()
		_ = c.Close()
	})
	g.admit(c)
	return c
}

func (c *conn) isShut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shutDown
}

// hold makes a connection hold n bytes, and for how long it does.
func hold(c *conn, n int64, age time.Duration) {
	c.take(n)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = time.Now().Add(-age)
}

func TestTheConnectionThatHoldsMostForLongestGoes(t *testing.T) {
	l := generous()
	l.HeldBytes = 1000
	g := quiet(l)
	large, old, worst, fresh := piped(t, g), piped(t, g), piped(t, g), piped(t, g)
	hold(large, 500, time.Second)
	hold(old, 10, 20*time.Second)
	hold(worst, 300, 2*time.Second)
	fresh.take(191)
	for _, c := range []struct {
		conn *conn
		shut bool
	}{{large, false}, {old, false}, {worst, true}, {fresh, false}} {
		if c.conn.isShut() != c.shut {
			t.Errorf("large %t, old %t, worst %t, fresh %t: want only the worst closed", large.isShut(), old.isShut(), worst.isShut(), fresh.isShut())
			break
		}
	}
	if load := g.Load(); load.HeldBytes != 701 || load.EvictedMemory != 1 || load.Connections != 3 {
		t.Errorf("load %+v, want 701 bytes of 3 connections after one was closed", load)
	}
}

// A connection that goes on completing messages does not grow old.
func TestWhatIsCompletedIsNotHeld(t *testing.T) {
	g := quiet(generous())
	c := piped(t, g)
	hold(c, 1000, time.Hour)
	c.complete(990)
	if c.burden(time.Now()) > 10 {
		t.Errorf("burden %g after all was completed", c.burden(time.Now()))
	}
	hold(c, 5000, time.Hour)
	c.take(1000)
	c.complete(4900)
	c.complete(10) // what was there an hour ago is gone; the rest is new
	if got := c.burden(time.Now()); got > 1000 {
		t.Errorf("burden %g, want the burden of new bytes", got)
	}
	c.complete(1 << 20)
	if got := g.Load().HeldBytes; got != 0 {
		t.Errorf("%d bytes are held, want none", got)
	}
}

func TestANewConnectionTakesThePlaceOfAWorthlessOne(t *testing.T) {
	for range 20 { // it is drawn
		l := generous()
		l.Connections = 3
		g := quiet(l)
		busy, stranger, idle := piped(t, g), piped(t, g), piped(t, g)
		for _, c := range []*conn{busy, idle} {
			c.complete(1)
		}
		busy.begin()
		if piped(t, g); !stranger.isShut() || idle.isShut() || busy.isShut() {
			t.Fatal("want the one closed that never completed a message")
		}
		l.Connections = 2
		g = quiet(l)
		busy, idle = piped(t, g), piped(t, g)
		for _, c := range []*conn{busy, idle} {
			c.complete(1)
		}
		busy.begin()
		if piped(t, g); !idle.isShut() || busy.isShut() {
			t.Fatal("want the one closed that has no call in progress")
		}
		if load := g.Load(); load.EvictedFull != 1 || load.Connections != 2 {
			t.Fatalf("load %+v, want one closed and two there", load)
		}
	}
}

func TestAClosedConnectionHoldsNothing(t *testing.T) {
	g := quiet(generous())
	c := piped(t, g)
	c.take(100)
	_ = c.Close()
	c.take(100)
	if load := g.Load(); load.HeldBytes != 0 || load.Connections != 0 {
		t.Errorf("load %+v", load)
	}
}

// A write that the peer does not take ends.
func TestAWriteThatIsNotTakenEnds(t *testing.T) {
	l := generous()
	l.Progress = 20 * time.Millisecond
	c := piped(t, quiet(l))
	if _, err := io.WriteString(c, "x"); err == nil {
		t.Error("nobody read, and it was written")
	}
}
