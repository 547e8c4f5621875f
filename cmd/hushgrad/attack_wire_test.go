package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
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
	headers bytes.Buffer
	hpack   *hpack.Encoder

	mu      sync.Mutex
	changed *sync.Cond
	initial int64            // window of a new stream
	windows map[uint32]int64 // of stream 0 for the connection
	closed  bool
}

var errGone = errors.New("the connection is closed")

// connect opens a connection, or returns nil when the server has closed it already. With
// window the peer may send that much on each stream.
func connect(t testing.TB, address string, window uint32) *wire {
	raw, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil
	}
	w := &wire{Conn: raw, framer: http2.NewFramer(raw, raw), initial: 65535, windows: map[uint32]int64{0: 65535}}
	w.changed = sync.NewCond(&w.mu)
	w.hpack = hpack.NewEncoder(&w.headers)
	t.Cleanup(func() { _ = raw.Close() })
	if _, err = io.WriteString(raw, http2.ClientPreface); err == nil {
		err = w.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	}
	if err != nil {
		return nil
	}
	return w
}

// open begins a call with the frames' own headers and these. The stream is new.
func (w *wire) open(stream uint32, method string, more ...string) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.headers.Reset()
	all := append([]string{":method", "POST", ":scheme", "http", ":path", "/hushgrad.v1." + method, ":authority", "a",
		"content-type", "application/grpc", "te", "trailers"}, more...)
	for i := 0; i < len(all); i += 2 {
		if err := w.hpack.WriteField(hpack.HeaderField{Name: all[i], Value: all[i+1]}); err != nil {
			return err
		}
	}
	w.mu.Lock()
	if _, known := w.windows[stream]; !known {
		w.windows[stream] = w.initial
	}
	w.mu.Unlock()
	return w.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: w.headers.Bytes(), EndHeaders: true})
}

// data sends bytes in frames of at most size, as the windows allow.
func (w *wire) data(stream uint32, p []byte, size int, end bool) error {
	for len(p) > 0 {
		n, err := w.reserve(stream, min(len(p), size))
		if err != nil {
			return err
		}
		w.writing.Lock()
		err = w.framer.WriteData(stream, end && n == len(p), p[:n])
		w.writing.Unlock()
		if err != nil {
			return err
		}
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
		if ack != nil {
			w.writing.Lock()
			err = ack()
			w.writing.Unlock()
		}
		if err != nil {
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
