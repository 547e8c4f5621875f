package endpoint

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/hushgrad/hushgrad/server/internal/guard"
)

// start serves a method that does what handle does and returns a connection and what ends it.
func start(t *testing.T, timeout time.Duration, handle func(context.Context) error) (conn *grpc.ClientConn, stop func() error) {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	e := New(Config{
		Guard: guard.New(guard.Limits{
			Connections: 9, HeldBytes: 1 << 20, DecodingBytes: 1 << 20, DecodingCost: func(n int) int64 { return int64(n) },
			MessageBytes: 1 << 10, UnaryBytes: 1 << 10, Progress: time.Minute,
		}, logger),
		Codec: encoding.GetCodecV2(proto.Name), Logger: logger, Ready: func() error { return nil }, StopTimeout: timeout,
	})
	e.RegisterService(&grpc.ServiceDesc{ServiceName: "test", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "Do", Handler: func(_ any, ctx context.Context, decode func(any) error, with grpc.UnaryServerInterceptor) (any, error) {
			in := new(healthpb.HealthCheckRequest)
			if err := decode(in); err != nil {
				return nil, err
			}
			return with(ctx, in, &grpc.UnaryServerInfo{FullMethod: "/test/Do"}, func(ctx context.Context, _ any) (any, error) {
				return new(emptypb.Empty), handle(ctx)
			})
		}}}}, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx, l) }()
	if conn, err = grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = conn.Close() })
	return conn, func() error { cancel(); return <-served }
}

func do(ctx context.Context, conn *grpc.ClientConn, text string) error {
	return conn.Invoke(ctx, "/test/Do", &healthpb.HealthCheckRequest{Service: text}, new(emptypb.Empty))
}

func TestCallsAreBounded(t *testing.T) {
	conn, stop := start(t, time.Second, func(ctx context.Context) error {
		if len(metadata.ValueFromIncomingContext(ctx, "panic")) > 0 {
			panic("secret")
		}
		return nil
	})
	long := metadata.AppendToOutgoingContext(t.Context(), "x", strings.Repeat("x", 16<<10))
	panics := metadata.AppendToOutgoingContext(t.Context(), "panic", "yes")
	for name, c := range map[string]struct {
		err  error
		code codes.Code
	}{
		"a call":       {do(t.Context(), conn, ""), codes.OK},
		"long message": {do(t.Context(), conn, strings.Repeat("x", 2<<10)), codes.ResourceExhausted},
		"long header":  {do(long, conn, ""), codes.Internal}, // gRPC's own client refuses to send it
		"a panic":      {do(panics, conn, ""), codes.Internal},
	} {
		if status.Code(c.err) != c.code || strings.Contains(status.Convert(c.err).Message(), "secret") {
			t.Errorf("%s: %v, want %v", name, c.err, c.code)
		}
	}
	resp, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || resp.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", resp, err)
	}
	if err := stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
}

// A call in progress is finished, and one that takes longer than the timeout is ended.
func TestStoppingWaitsForCallsUntilTheTimeout(t *testing.T) {
	for _, c := range []struct {
		timeout time.Duration
		code    codes.Code
	}{{time.Minute, codes.OK}, {10 * time.Millisecond, codes.Unavailable}} {
		began, let := make(chan struct{}), make(chan struct{})
		conn, stop := start(t, c.timeout, func(ctx context.Context) error {
			close(began)
			select {
			case <-let:
			case <-ctx.Done():
			}
			return nil
		})
		called := make(chan error, 1)
		go func() { called <- do(t.Context(), conn, "") }()
		<-began
		stopped := make(chan error, 1)
		go func() { stopped <- stop() }()
		if c.code == codes.OK {
			close(let)
		}
		if err := <-called; status.Code(err) != c.code {
			t.Errorf("timeout %v: %v, want %v", c.timeout, err, c.code)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	}
}
