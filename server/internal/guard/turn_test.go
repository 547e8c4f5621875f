package guard

import (
	"bytes"
	"context"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/test/bufconn"
)

// A connection that begins many calls with one read lets others work before each of them.
func TestOthersHaveATurnBetweenTheCallsOfAConnection(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	g := quiet(generous())
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), connKey{}, piped(t, g)))
	const calls = 500
	var turns atomic.Int64
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				turns.Add(1)
				runtime.Gosched()
			}
		}
	}()
	for range calls {
		if _, err := g.begin(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	cancel()
	if got := turns.Load(); got < calls/10 {
		t.Errorf("another goroutine had %d turns while %d calls began", got, calls)
	}
	eventually(t, "the calls are over", func() bool { return g.Load().Streams == 0 })
}

// largestRead is a listener that notes the largest read of its connections.
type largestRead struct {
	net.Listener
	bytes *atomic.Int64
}

func (l largestRead) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return noting{c, l.bytes}, err
}

type noting struct {
	net.Conn
	largest *atomic.Int64
}

func (c noting) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.largest.Store(max(c.largest.Load(), int64(n))) // one goroutine reads
	return n, err
}

func TestSmallFramesAreReadInTurnsOfFourKilobytes(t *testing.T) {
	var sent bytes.Buffer
	sent.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(&sent, nil)
	_ = framer.WriteSettings() // to a buffer
	for range 10_000 {
		_ = framer.WriteWindowUpdate(0, 1)
	}
	last := [8]byte{7}
	_ = framer.WritePing(false, last)

	l, largest := bufconn.Listen(1<<20), new(atomic.Int64)
	g := quiet(generous())
	s := grpc.NewServer(g.Options(encoding.GetCodecV2(proto.Name))...)
	go func() { _ = s.Serve(g.Listener(largestRead{l, largest})) }()
	defer s.Stop()
	conn, err := l.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(sent.Bytes()); err != nil {
		t.Fatal(err)
	}
	answers := http2.NewFramer(io.Discard, conn)
	for answered := false; !answered; {
		frame, err := answers.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		ping, is := frame.(*http2.PingFrame)
		answered = is && ping.IsAck() && ping.Data == last
	}
	if got := largest.Load(); got > 4<<10 {
		t.Errorf("%d bytes of small frames were read at once, want at most 4096", got)
	}
}
