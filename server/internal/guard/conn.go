package guard

import (
	"net"
	"runtime"
	"sync"
	"time"
)

// Listener returns a listener whose connections the guard watches.
func (g *Guard) Listener(l net.Listener) net.Listener { return listener{l, g} }

type listener struct {
	net.Listener
	guard *Guard
}

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, guard: l.guard, born: time.Now()}
	l.guard.admit(c)
	return c, nil
}

// conn is a connection with an account of what it holds.
type conn struct {
	net.Conn
	guard *Guard
	born  time.Time

	mu       sync.Mutex
	shutDown bool
	streams  int   // that are open
	messages int64 // that were completed
	wasted   int64 // streams that ended without one
	// taken and given only grow. What is held is the difference. When given reaches mark,
	// everything is finished that was taken until since.
	taken, given, mark int64
	since              time.Time
}

// address is a remote address that leads to its connection. It is how gRPC's stats handlers,
// who get no connection, find it, below TLS, too.
type address struct {
	net.Addr
	conn *conn
}

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return address{c.Conn.RemoteAddr(), c} }

// Read implements net.Conn. What it reads is held. It lets other connections go first, since
// their turns would otherwise come after 10 ms of frames of each connection that floods.
func (c *conn) Read(p []byte) (int, error) {
	runtime.Gosched()
	n, err := c.Conn.Read(p)
	c.take(int64(n))
	return n, err
}

// Write implements net.Conn. The peer has to take the bytes in time.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.guard.limits.Progress)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.guard.remove(c)
	return c.shut()
}

// shut closes the connection and frees what it holds.
func (c *conn) shut() error {
	c.mu.Lock()
	c.shutDown = true
	c.settle()
	c.mu.Unlock()
	return c.Conn.Close()
}

// settle makes the connection hold nothing. The caller holds c.mu.
func (c *conn) settle() {
	c.guard.held.Add(c.given - c.taken)
	c.given = c.taken
}

// take notes n more bytes as held, and makes room for them when there is none.
func (c *conn) take(n int64) {
	c.mu.Lock()
	if n <= 0 || c.shutDown {
		c.mu.Unlock()
		return
	}
	if c.taken == c.given {
		c.mark, c.since = c.taken+n, time.Now()
	}
	c.taken += n
	total := c.guard.held.Add(n)
	c.mu.Unlock()
	if total > c.guard.limits.HeldBytes {
		c.guard.relieve()
	}
}

// give notes that up to n bytes are not held any more.
func (c *conn) give(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n = min(n, c.taken-c.given)
	c.given += n
	c.guard.held.Add(-n)
	if c.given >= c.mark {
		c.mark, c.since = c.taken, time.Now()
	}
}

// begin and end note that a stream begins and ends.
func (c *conn) begin() {
	c.mu.Lock()
	c.streams++
	c.mu.Unlock()
	c.take(streamBytes)
}

func (c *conn) end(wasted bool) {
	c.give(streamBytes)
	c.mu.Lock()
	if c.streams--; c.streams == 0 {
		c.settle() // what is left was framing, and messages that nobody waits for any more
	}
	if wasted {
		c.wasted++
	}
	tooMany := !c.shutDown && c.wasted > wastedStreams && c.wasted > c.messages
	c.mu.Unlock()
	if tooMany {
		c.guard.calm(c)
	}
}

// complete notes a complete message of n bytes, with the frames around it.
func (c *conn) complete(n int) {
	c.mu.Lock()
	c.messages++
	c.mu.Unlock()
	c.give(int64(n + n/64 + 64))
}

// burden is what the connection holds, in bytes, times how long it does, in seconds.
func (c *conn) burden(now time.Time) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(c.taken-c.given) * max(now.Sub(c.since), time.Microsecond).Seconds()
}

const (
	worthless = iota // never completed a message
	unused           // has no call in progress
	used
)

// worth ranks connections when one has to go.
func (c *conn) worth() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.messages == 0:
		return worthless
	case c.streams == 0:
		return unused
	}
	return used
}
