package guard

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// serve runs a gRPC server under a guard, with a stream and a unary call, and connects to it.
func serve(t *testing.T, g *Guard, handler func(grpc.ServerStream) error) *grpc.ClientConn {
	t.Helper()
	s := grpc.NewServer(g.Options(encoding.GetCodecV2(proto.Name))...)
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "test",
		HandlerType: (*any)(nil),
		Streams: []grpc.StreamDesc{{
			StreamName: "Stream", ClientStreams: true, ServerStreams: true,
			Handler: func(_ any, ss grpc.ServerStream) error { return handler(ss) },
		}},
		Methods: []grpc.MethodDesc{{
			MethodName: "Unary",
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				return new(wrapperspb.BytesValue), decode(new(wrapperspb.BytesValue))
			},
		}},
	}, nil)
	l := bufconn.Listen(1 << 20)
	served := make(chan error, 1)
	go func() { served <- s.Serve(g.Listener(l)) }()
	conn, err := grpc.NewClient("passthrough:///test", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		s.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return conn
}

func begin(t *testing.T, conn *grpc.ClientConn) grpc.ClientStream {
	t.Helper()
	stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/test/Stream")
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func send(t *testing.T, stream grpc.ClientStream, bytes int) {
	t.Helper()
	if err := stream.SendMsg(wrapperspb.Bytes(make([]byte, bytes))); err != nil {
		t.Fatal(err)
	}
}

func unary(t *testing.T, conn *grpc.ClientConn, bytes int) error {
	return conn.Invoke(t.Context(), "/test/Unary", wrapperspb.Bytes(make([]byte, bytes)), new(wrapperspb.BytesValue))
}

// echo answers every message.
func echo(ss grpc.ServerStream) error {
	for {
		m := new(wrapperspb.BytesValue)
		if err := ss.RecvMsg(m); err != nil {
			return err
		}
		if err := ss.SendMsg(m); err != nil {
			return err
		}
	}
}

// eventually waits for what the end of a call brings about.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not yet: %s", what)
		}
	}
}

func TestAfterCallsNothingIsHeld(t *testing.T) {
	g := quiet(generous())
	conn := serve(t, g, echo)
	stream := begin(t, conn)
	for range 100 {
		send(t, stream, 50_000)
		if err := stream.RecvMsg(new(wrapperspb.BytesValue)); err != nil {
			t.Fatal(err)
		}
	}
	// Five megabytes went by; less than a message and a stream are held.
	if load := g.Load(); load.HeldBytes > 50_000+streamBytes || load.Streams != 1 || load.Connections != 1 {
		t.Errorf("load %+v in the midst of a call", load)
	}
	if err := unary(t, conn, 10); err != nil {
		t.Error(err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing is held", func() bool {
		load := g.Load()
		return load.HeldBytes == 0 && load.Streams == 0 && load.DecodingBytes == 0
	})
}

func TestACallWithoutProgressEnds(t *testing.T) {
	t.Parallel() // it mostly waits
	l := generous()
	l.Progress = 50 * time.Millisecond
	for name, handler := range map[string]func(grpc.ServerStream) error{
		"nothing is sent": echo,
		"nothing is read": func(ss grpc.ServerStream) error {
			for {
				if err := ss.SendMsg(wrapperspb.Bytes(make([]byte, 40_000))); err != nil {
					return err
				}
			}
		},
	} {
		g := quiet(l)
		stream := begin(t, serve(t, g, handler))
		eventually(t, name+": the call is over", func() bool { load := g.Load(); return load.Stalled == 1 && load.Streams == 0 })
		var err error
		for err == nil {
			err = stream.RecvMsg(new(wrapperspb.BytesValue))
		}
		if status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("%s: %v, want DEADLINE_EXCEEDED", name, err)
		}
	}
}

// A handler may take as long as it wants.
func TestAServerMayBeSlow(t *testing.T) {
	t.Parallel() // it mostly waits
	l := generous()
	l.Progress = 100 * time.Millisecond
	stream := begin(t, serve(t, quiet(l), func(ss grpc.ServerStream) error {
		m := new(wrapperspb.BytesValue)
		err := ss.RecvMsg(m)
		select {
		case <-ss.Context().Done():
			return ss.Context().Err()
		case <-time.After(2 * l.Progress):
		}
		if err == nil {
			err = ss.SendMsg(m)
		}
		return err
	}))
	send(t, stream, 1)
	if err := stream.RecvMsg(new(wrapperspb.BytesValue)); err != nil {
		t.Error(err)
	}
}

// While messages are at work that leave no room, no other is decoded.
func TestMessagesAreDecodedWhenThereIsRoom(t *testing.T) {
	l := generous()
	l.DecodingBytes = 150_000
	g := quiet(l)
	work, done := make(chan int), make(chan struct{})
	conn := serve(t, g, func(ss grpc.ServerStream) error {
		m := new(wrapperspb.BytesValue)
		err := ss.RecvMsg(m)
		work <- len(m.Value)
		<-done
		return err
	})
	first, second, small := begin(t, conn), begin(t, conn), begin(t, conn)
	send(t, first, 100_000)
	if n := <-work; n != 100_000 {
		t.Fatalf("got %d bytes", n)
	}
	send(t, small, 10) // fits beside it
	<-work
	send(t, second, 90_000)
	select {
	case n := <-work:
		t.Errorf("%d bytes more are at work", n)
	case <-time.After(50 * time.Millisecond):
	}
	if got := g.Load().DecodingBytes; got < 100_000 || got > l.DecodingBytes {
		t.Errorf("%d bytes at work", got)
	}
	done <- struct{}{}
	done <- struct{}{}
	if n := <-work; n != 90_000 {
		t.Errorf("got %d bytes", n)
	}
	done <- struct{}{}
}

func TestAUnaryMessageHasALimitOfItsOwn(t *testing.T) {
	conn := serve(t, quiet(generous()), echo)
	if err := unary(t, conn, 1000); err != nil {
		t.Error(err)
	}
	if err := unary(t, conn, 1100); err == nil {
		t.Error("1100 bytes were taken")
	}
}

func TestCompressedMessagesAreRefused(t *testing.T) {
	conn := serve(t, quiet(generous()), echo)
	err := conn.Invoke(t.Context(), "/test/Unary", wrapperspb.Bytes(make([]byte, 100)), new(wrapperspb.BytesValue), grpc.UseCompressor(gzip.Name))
	if err == nil || !strings.Contains(err.Error(), errCompressed.Error()) {
		t.Errorf("unary: %v, want %v", err, errCompressed)
	}
	stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/test/Stream", grpc.UseCompressor(gzip.Name))
	if err != nil {
		t.Fatal(err)
	}
	send(t, stream, 100)
	if err := stream.RecvMsg(new(wrapperspb.BytesValue)); err == nil || !strings.Contains(err.Error(), errCompressed.Error()) {
		t.Errorf("stream: %v, want %v", err, errCompressed)
	}
}

func TestCallsThatAreGivenUpCloseTheConnection(t *testing.T) {
	t.Parallel() // it mostly waits
	g := quiet(generous())
	conn := serve(t, g, echo)
	for range wastedStreams + 1 {
		ctx, giveUp := context.WithCancel(t.Context())
		if _, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/test/Stream"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the server has the call", func() bool { return g.Load().Streams == 1 })
		giveUp()
		eventually(t, "the call is over", func() bool { return g.Load().Streams == 0 })
	}
	eventually(t, "the connection is closed", func() bool { return g.Load().EvictedResets == 1 })
}
