package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// wire is an HTTP/2 connection of an attacker, who decides about every frame. It keeps to flow
// control, since a server closes those who do not.
type wire struct {
	net.Conn
	framer  *http2.Framer
	writing sync.Mutex
	out     *bufio.Writer
	headers bytes.Buffer
	hpack   *hpack.Encoder

	mu      sync.Mutex
	changed *sync.Cond
	initial int64            // window of a new stream
	windows map[uint32]int64 // of stream 0 for the connection
	closed  bool
	gone    chan struct{} // closed by read
	sent    *atomic.Int64 // bytes of messages
}

var errGone = errors.New("the connection is closed")

// connect opens a connection until ctx ends. The server may send window bytes on each stream.
func connect(ctx context.Context, address string, window uint32) (*wire, error) {
	raw, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: raw, out: bufio.NewWriterSize(raw, 32<<10), initial: 65535, windows: map[uint32]int64{0: 65535}, gone: make(chan struct{}), sent: new(atomic.Int64)}
	w.framer = http2.NewFramer(w.out, raw)
	w.changed = sync.NewCond(&w.mu)
	w.hpack = hpack.NewEncoder(&w.headers)
	context.AfterFunc(ctx, func() { _ = raw.Close() })
	err = w.write(func() error {
		_, _ = w.out.WriteString(http2.ClientPreface) // its error stays
		return w.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	})
	return w, err
}

// write sends frames.
func (w *wire) write(frames func() error) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	if err := frames(); err != nil {
		return err
	}
	return w.out.Flush()
}

// encode returns the header block of a call.
func (w *wire) encode(method string, more []hpack.HeaderField) []byte {
	w.headers.Reset()
	for _, f := range append([]hpack.HeaderField{
		{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "http"}, {Name: ":path", Value: "/hushgrad.v1." + method},
		{Name: ":authority", Value: "a"}, {Name: "content-type", Value: "application/grpc"}, {Name: "te", Value: "trailers"},
	}, more...) {
		_ = w.hpack.WriteField(f) // to a buffer
	}
	return w.headers.Bytes()
}

// open begins a call.
func (w *wire) open(stream uint32, method string, more ...hpack.HeaderField) error {
	w.mu.Lock()
	w.windows[stream] = w.initial
	w.mu.Unlock()
	return w.write(func() error {
		return w.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: w.encode(method, more), EndHeaders: true})
	})
}

// data sends bytes in frames of at most size, as the windows allow.
func (w *wire) data(stream uint32, p []byte, size int, end bool) error {
	for len(p) > 0 {
		n, err := w.reserve(stream, min(len(p), 64<<10))
		if err != nil {
			return err
		}
		err = w.write(func() error {
			for sent := 0; sent < n; {
				to := min(n, sent+size)
				if err := w.framer.WriteData(stream, end && to == len(p), p[sent:to]); err != nil {
					return err
				}
				sent = to
			}
			return nil
		})
		if err != nil {
			return err
		}
		w.sent.Add(int64(n))
		p = p[n:]
	}
	return nil
}

// reserve waits until up to n bytes may be sent.
func (w *wire) reserve(stream uint32, n int) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.closed && (w.windows[0] <= 0 || w.windows[stream] <= 0) {
		w.changed.Wait()
	}
	if w.closed {
		return 0, errGone
	}
	n = int(min(int64(n), w.windows[0], w.windows[stream]))
	w.windows[0] -= int64(n)
	w.windows[stream] -= int64(n)
	return n, nil
}

// read takes note of what the server says, until it closes the connection.
func (w *wire) read() {
	defer close(w.gone)
	for {
		frame, err := w.framer.ReadFrame()
		var ack func() error
		w.mu.Lock()
		switch f := frame.(type) {
		case *http2.WindowUpdateFrame:
			w.windows[f.StreamID] += int64(f.Increment)
		case *http2.SettingsFrame:
			if v, ok := f.Value(http2.SettingInitialWindowSize); ok {
				w.initial = int64(v)
			}
			if !f.IsAck() {
				ack = w.framer.WriteSettingsAck
			}
		case *http2.PingFrame:
			if data := f.Data; !f.IsAck() {
				ack = func() error { return w.framer.WritePing(true, data) }
			}
		case *http2.RSTStreamFrame:
			w.windows[f.StreamID] = 0
		}
		w.closed = err != nil
		w.changed.Broadcast()
		w.mu.Unlock()
		if err != nil {
			return
		}
		if ack != nil && w.write(ack) != nil {
			_ = w.Close()
		}
	}
}

// message is a gRPC message as DATA frames carry it, of which the body may be cut.
func message(announced int, compressed bool, body []byte) []byte {
	head := make([]byte, 5, 5+len(body))
	if compressed {
		head[0] = 1
	}
	binary.BigEndian.PutUint32(head[1:], uint32(announced))
	return append(head, body...)
}
