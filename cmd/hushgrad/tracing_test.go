package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/prototext"
)

// spans is a collector that keeps what it gets as text.
type spans struct {
	collector.UnimplementedTraceServiceServer
	got chan string
}

func (s spans) Export(_ context.Context, r *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	s.got <- prototext.Format(r)
	return &collector.ExportTraceServiceResponse{}, nil
}

// A call becomes a trace when the environment asks for it, without the client's address.
func TestCallsAreTracedOnRequest(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, g := spans{got: make(chan string, 16)}, grpc.NewServer()
	collector.RegisterTraceServiceServer(g, s)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop) // after the server, which sends its last spans
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+l.Addr().String())
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10") // ms
	for _, address := range run(t) {
		_ = openOn(t, address, insecure.NewCredentials()) // works on one of them
	}
	select {
	case text := <-s.got:
		if !strings.Contains(text, "hushgrad.v1.Operator/OpenRound") || strings.Contains(text, "client.") || strings.Contains(text, "peer.") {
			t.Errorf("the trace is %s", text)
		}
	case <-time.After(20 * time.Second):
		t.Error("there is no trace")
	}
}

func TestTracesAreOffUnlessAskedFor(t *testing.T) {
	for _, c := range []struct {
		variables string
		asked     bool
		param     string
	}{
		{"", false, ""},
		{"OTEL_TRACES_EXPORTER=otlp", true, ""},
		{"OTEL_TRACES_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=http://a", false, ""},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://a", true, ""},
		{"OTEL_SDK_DISABLED=true OTEL_EXPORTER_OTLP_ENDPOINT=http://a", false, ""},
		{"OTEL_TRACES_EXPORTER=jaeger", false, "OTEL_TRACES_EXPORTER"},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", false, "OTEL_EXPORTER_OTLP_PROTOCOL"},
	} {
		t.Run(c.variables, func(t *testing.T) {
			for variable := range strings.FieldsSeq(c.variables) {
				name, value, _ := strings.Cut(variable, "=")
				t.Setenv(name, value)
			}
			asked, err := tracesAsked()
			if asked != c.asked || (err == nil) != (c.param == "") || err != nil && !strings.HasPrefix(err.Error(), c.param) {
				t.Errorf("%t, %v", asked, err)
			}
		})
	}
	t.Setenv("OTEL_TRACES_EXPORTER", "jaeger")
	var stderr bytes.Buffer
	if code := call(t.Context(), []string{"serve"}, io.Discard, &stderr); code != 2 || !strings.Contains(stderr.String(), "must be otlp or none") {
		t.Errorf("exit code %d, printed %q", code, stderr.String())
	}
}
