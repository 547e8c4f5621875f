package issuer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/internal/endpoint"
	"github.com/hushgrad/hushgrad/server/internal/gateway"
	"github.com/hushgrad/hushgrad/server/internal/guard"
)

const stopTimeout = 2 * time.Second

// messageBytes bounds a call: MaxMessages times the id of a key and a number of 256 bytes, which are base64 in JSON.
const messageBytes = MaxMessages * 512

// bounds are the bounds of each listener.
var bounds = guard.Limits{
	Connections:   4096,
	HeldBytes:     64 << 20,
	DecodingBytes: 16 << 20,
	DecodingCost:  func(n int) int64 { return 4 * int64(n) },
	MessageBytes:  messageBytes,
	UnaryBytes:    messageBytes,
	Progress:      30 * time.Second,
	Idle:          5 * time.Minute, Age: time.Hour, Grace: time.Minute,
}

// Listeners are where Serve answers. It closes them.
type Listeners struct {
	// Clients and Operator are required.
	Clients, Operator net.Listener
	// HTTP is where the clients' service is offered over HTTP/1.1 and h2, too: to browsers and curl.
	// When nil, it is not.
	HTTP net.Listener
}

// Serve answers calls, with health checks, until ctx ends, and then for at most 2 s those that are
// in progress. It returns nil then, or the error after which the issuer has failed.
func (i *Issuer) Serve(ctx context.Context, l Listeners) error {
	group, ctx := errgroup.WithContext(ctx)
	clients := endpoint.New(i.endpoint("clients", i.cfg.Credentials))
	i.RegisterClients(clients)
	operator := endpoint.New(i.endpoint("operator", i.cfg.OperatorCredentials))
	i.RegisterOperator(operator)
	if l.HTTP != nil {
		web, err := i.gateway()
		if err != nil {
			return errors.Join(fmt.Errorf("issuer: serve: %w", err), l.Clients.Close(), l.Operator.Close(), l.HTTP.Close())
		}
		group.Go(func() error { return web.Serve(ctx, l.HTTP) })
	}
	group.Go(func() error { return clients.Serve(ctx, l.Clients) })
	group.Go(func() error { return operator.Serve(ctx, l.Operator) })
	group.Go(func() error { return i.journal.Await(ctx) })
	group.Go(func() error { return endpoint.LogStop(ctx, i.cfg.Logger, &i.inFlight, stopTimeout) })
	return group.Wait()
}

// gateway returns what answers over HTTP. A secret would be readable on the way without TLS, which
// clients over gRPC have.
func (i *Issuer) gateway() (*gateway.Gateway, error) {
	if i.cfg.Credentials != nil && i.cfg.HTTPSecurity == nil {
		return nil, fl.Invalid("HTTPSecurity", "nothing", "is required for HTTP: there are Credentials for gRPC")
	}
	return gateway.New(gateway.Config{
		Endpoint: i.endpoint("http", nil), Register: i.RegisterClients, Service: service.Issuer_ServiceDesc.ServiceName,
		MessageBytes: messageBytes, Security: i.cfg.HTTPSecurity, Origins: i.cfg.HTTPOrigins, OHTTPKeys: i.cfg.OHTTPKeys, Headers: []string{"Authorization"},
	})
}

// endpoint returns the settings of the gRPC server of a listener.
func (i *Issuer) endpoint(name string, creds credentials.TransportCredentials) endpoint.Config {
	return endpoint.Config{
		Name: name, Guard: guard.New(bounds, i.cfg.Logger), Codec: encoding.GetCodecV2(proto.Name), Logger: i.cfg.Logger,
		Ready: i.Ready, StopTimeout: stopTimeout, Credentials: creds, StatsHandler: i.cfg.StatsHandler, Calls: &i.inFlight,
	}
}
