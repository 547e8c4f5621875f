package guard

import (
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

const (
	// streamBytes is what an open stream counts: its headers, its goroutine and, while DATA
	// frames are tiny, what gRPC needs for them beside their bytes.
	streamBytes = 32 << 10
	// headerBytes bounds the headers of a call after decompression.
	headerBytes = 16 << 10
	// streamsPerConnection is what RFC 9113 (6.5.2) recommends as the least, and a bit.
	streamsPerConnection = 128
	// streamWindow and connWindow are how much a peer may send that nobody reads.
	streamWindow, connWindow = 64 << 10, 1 << 20
	// readBytes is how much is read of a connection before others get their turn.
	readBytes = 4 << 10
	// wastedStreams is how many calls a connection may give up before their first message is
	// complete, if it completes fewer messages than that.
	wastedStreams = 100
	// handshakeTimeout is for TLS and HTTP/2 together.
	handshakeTimeout = 5 * time.Second
)

// Options returns the options of a gRPC server on the guard's listener. Add other interceptors after
// them. codec is the server's.
func (g *Guard) Options(codec encoding.CodecV2) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.InTapHandle(g.begin),
		grpc.StatsHandler(observer{}),
		grpc.ChainStreamInterceptor(intercept),
		grpc.ForceServerCodecV2(gate{codec, g.limits.UnaryBytes}),
		grpc.MaxRecvMsgSize(g.limits.MessageBytes),
		//lint:ignore SA1019 a server has no other way to take no compressor that is registered
		grpc.RPCDecompressor(noGzip{}),
		grpc.MaxHeaderListSize(headerBytes),
		grpc.MaxConcurrentStreams(streamsPerConnection),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connWindow),
		grpc.ReadBufferSize(readBytes),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			Time: time.Minute, Timeout: 20 * time.Second,
			MaxConnectionIdle: g.limits.Idle, MaxConnectionAge: g.limits.Age, MaxConnectionAgeGrace: g.limits.Grace,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 20 * time.Second, PermitWithoutStream: true}),
	}
}

// noGzip refuses gzip, which is in a binary as soon as an exporter of telemetry is. gRPC unpacks a
// message before the codec can make it wait for room, so a few kilobytes would take megabytes on
// every stream at once.
type noGzip struct{}

// Type implements grpc.Decompressor.
func (noGzip) Type() string { return "gzip" }

// Do implements grpc.Decompressor.
func (noGzip) Do(io.Reader) ([]byte, error) { return nil, errCompressed }

var errCompressed = errors.New("messages must not be compressed")

// incoming is a message to be received by a call.
type incoming struct {
	message any
	call    *call
}

// gate is a codec that decodes when there is room.
type gate struct {
	encoding.CodecV2
	unaryBytes int
}

// Unmarshal implements encoding.CodecV2. Only messages of streams are incoming.
func (g gate) Unmarshal(data mem.BufferSlice, v any) error {
	in, ok := v.(*incoming)
	if !ok {
		if n := data.Len(); n > g.unaryBytes {
			return status.Errorf(codes.ResourceExhausted, "a message of %d bytes, must have at most %d", n, g.unaryBytes)
		}
		return g.CodecV2.Unmarshal(data, v)
	}
	if err := in.call.enter(data.Len()); err != nil {
		return err
	}
	return g.CodecV2.Unmarshal(data, in.message)
}
