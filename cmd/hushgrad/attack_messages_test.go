package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"sync"
	"time"

	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/klauspost/compress/zstd"

	"github.com/hushgrad/hushgrad/internal/service"
)

const (
	getRound      = "Rounds/GetRound"
	getModel      = "Rounds/GetModel"
	submitReports = "Rounds/SubmitReports"

	largestMessage = 4 << 20 // the server's default limit
)

// bombs sends complete messages that are large or become so: two million empty reports, as the
// first version took them, also compressed, and as many reports of the round as fit.
func bombs(ctx context.Context, v victim) {
	empty := bytes.Repeat([]byte{4<<3 | 2, 0}, 2_000_000)
	request := v.request()
	request.Reports = make([]byte, largestMessage-1<<10)
	full, err := proto.Marshal(request)
	if err != nil {
		panic(err)
	}
	compressor, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	var zipped bytes.Buffer
	zipper := gzip.NewWriter(&zipped)
	_, _ = zipper.Write(empty) // to a buffer
	_ = zipper.Close()
	kinds := []struct {
		encoding string
		message  []byte
	}{
		{"identity", message(len(empty), false, empty)},
		{"zstd", complete(compressor.EncodeAll(empty, nil))},
		{"gzip", complete(zipped.Bytes())},
		{"identity", message(len(full), false, full)},
	}
	swarm(ctx, 64, func(ctx context.Context, i int) {
		w, err := connect(ctx, v.clients, 1<<16)
		if err != nil {
			return
		}
		go w.read()
		kind := kinds[i%len(kinds)]
		for stream := uint32(1); err == nil && ctx.Err() == nil; stream += 2 {
			_ = w.open(stream, submitReports, hpack.HeaderField{Name: "grpc-encoding", Value: kind.encoding})
			err = w.data(stream, kind.message, 16<<10, true)
		}
	})
}

// complete is a compressed message.
func complete(body []byte) []byte { return message(len(body), true, body) }

// unfinished keeps a hundred calls on each of 64 connections one byte short of a message.
func unfinished(ctx context.Context, v victim, frameBytes int) {
	part := message(largestMessage, false, make([]byte, largestMessage-1))
	swarm(ctx, 64, func(ctx context.Context, _ int) {
		w, err := connect(ctx, v.clients, 1<<16)
		if err != nil {
			return
		}
		w.sent = v.sent
		go w.read()
		var streams sync.WaitGroup
		for i := range 100 {
			stream, method := uint32(2*i+1), submitReports
			if i%2 == 1 {
				method = getRound
			}
			if w.open(stream, method) != nil {
				return
			}
			streams.Go(func() { _ = w.data(stream, part, frameBytes, false) })
		}
		streams.Wait()
		<-w.gone
	})
}

func cutMessages(ctx context.Context, v victim) { unfinished(ctx, v, 16<<10) }

func crumbs(ctx context.Context, v victim) { unfinished(ctx, v, 1) }

// unreadModels begins hundreds of downloads, and reads none, while the model is replaced.
func unreadModels(ctx context.Context, v victim) {
	var publisher sync.WaitGroup
	publisher.Go(func() {
		for ctx.Err() == nil {
			v.publish(ctx)
		}
	})
	swarm(ctx, 16, func(ctx context.Context, _ int) {
		w, err := connect(ctx, v.clients, 1<<31-1)
		if err != nil {
			return
		}
		if w.write(func() error { return w.framer.WriteWindowUpdate(0, 1<<30) }) != nil {
			return
		}
		for stream := uint32(1); ctx.Err() == nil; stream += 2 {
			if w.open(stream, getModel) != nil || w.data(stream, message(0, false, nil), 5, true) != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	publisher.Wait()
}

// newKeys sends good batches with keys of the largest size.
func newKeys(ctx context.Context, v victim) {
	swarm(ctx, 8, func(ctx context.Context, _ int) {
		conn, err := grpc.NewClient(v.clients, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return
		}
		defer conn.Close()
		stream, err := service.NewRoundsClient(conn).SubmitReports(ctx)
		for err == nil {
			request := v.request()
			if request.BatchKey != nil { // a sealed report has none: it is its own key
				request.BatchKey = make([]byte, 64)
				_, _ = rand.Read(request.BatchKey) // never fails
			}
			v.sent.Add(int64(proto.Size(request)))
			err = stream.Send(request)
		}
	})
}
