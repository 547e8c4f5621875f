package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/hushgrad/hushgrad/internal/tlsfile"
)

// following is the transport security of connections to a party by files that may be replaced
// while the process runs: each connection looks at them.
type following struct {
	credentials.TransportCredentials // by the files as they were, for what is no handshake
	authorities                      *tlsfile.Authorities
	own                              *tlsfile.Certificate // nil for none
}

// follow is dial for a process that runs for months: it needs no restart for renewed files.
func (r *remote) follow(logger *slog.Logger, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	if r.ca == "" {
		return r.dial(options...)
	}
	ca, cert, key := r.tlsFlags()
	authorities, err := tlsfile.LoadAuthorities(r.ca, logger)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ca, err)
	}
	f := following{authorities: authorities}
	if r.cert != "" {
		if f.own, err = tlsfile.LoadCertificate(r.cert, r.key, logger); err != nil {
			return nil, fmt.Errorf("%s, %s: %w", cert, key, err)
		}
	}
	f.TransportCredentials = credentials.NewTLS(f.own.ClientConfig(authorities))
	return r.connect(f, options...)
}

// ClientHandshake implements credentials.TransportCredentials.
func (f following) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return credentials.NewTLS(f.own.ClientConfig(f.authorities)).ClientHandshake(ctx, authority, conn)
}

// Clone implements credentials.TransportCredentials.
func (f following) Clone() credentials.TransportCredentials { return f }
