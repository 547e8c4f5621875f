package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"github.com/hushgrad/hushgrad/fl"
)

// tracing sends traces of calls to an OpenTelemetry collector.
type tracing struct{ provider *sdktrace.TracerProvider }

// newTracing returns what the standard environment variables ask for, nil for no traces. role is the command, after which the
// service is called unless they name it. A trace has the time, the method and the result of a call. It has no address of a
// client, and no party passes on what a client says of traces.
func newTracing(ctx context.Context, role string, logger *slog.Logger) (*tracing, error) {
	if asked, err := tracesAsked(); err != nil || !asked {
		return nil, err
	}
	exporter, err := otlptracegrpc.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	of, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "hushgrad-"+role), attribute.String("service.version", thisBuild().Version)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.Warn("traces are lost", "error", err) }))
	return &tracing{sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(of))}, nil
}

// tracesAsked reads the variables that turn traces on: an exporter, or a collector's address.
func tracesAsked() (bool, error) {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return false, nil
	}
	switch exporter := os.Getenv("OTEL_TRACES_EXPORTER"); exporter {
	case "none":
		return false, nil
	case "otlp":
	case "":
		if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")+os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
			return false, nil
		}
	default:
		return false, fl.Invalid("OTEL_TRACES_EXPORTER", exporter, "must be otlp or none")
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		if protocol := os.Getenv(name); protocol != "" && protocol != "grpc" {
			return false, fl.Invalid(name, protocol, "must be grpc")
		}
	}
	return true, nil
}

// handler returns what makes the traces, nil for none. A client's own trace is linked, and
// does not decide whether there is one.
func (t *tracing) handler() stats.Handler {
	if t == nil {
		return nil
	}
	return otelgrpc.NewServerHandler(
		otelgrpc.WithTracerProvider(t.provider), otelgrpc.WithPropagators(propagation.TraceContext{}), otelgrpc.WithPublicEndpoint(),
	)
}

// upstream returns the options of a connection on which this party calls another one. The other party's traces link to these calls.
func (t *tracing) upstream() []grpc.DialOption {
	if t == nil {
		return nil
	}
	return []grpc.DialOption{grpc.WithStatsHandler(otelgrpc.NewClientHandler(
		otelgrpc.WithTracerProvider(t.provider), otelgrpc.WithPropagators(propagation.TraceContext{}),
	))}
}

// carried returns what a relay tells of a request, nil for nothing. The request's own headers are not read, and none is sent on.
func (t *tracing) carried() func(came time.Time, result string) {
	if t == nil {
		return nil
	}
	tracer := t.provider.Tracer("github.com/hushgrad/hushgrad/server/relay")
	return func(came time.Time, result string) {
		_, span := tracer.Start(context.Background(), "carry", trace.WithTimestamp(came), trace.WithSpanKind(trace.SpanKindServer))
		span.SetAttributes(attribute.String("result", result))
		span.End()
	}
}

// stop sends what is left, within a second.
func (t *tracing) stop(logger *slog.Logger) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		logger.Warn("traces are lost", "error", err)
	}
}
