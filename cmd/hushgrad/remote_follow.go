package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/internal/tlsfile"
)

// follow is dial for a process that runs for months. Each connection looks at the files, which may be
// replaced while the process runs.
func (r *remote) follow(logger *slog.Logger, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	if r.ca == "" {
		return r.dial(options...)
	}
	ca, cert, key := r.tlsFlags()
	authorities, err := tlsfile.LoadAuthorities(r.ca, logger)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ca, err)
	}
	var own *tlsfile.Certificate
	if r.cert != "" {
		if own, err = tlsfile.LoadCertificate(r.cert, r.key, logger); err != nil {
			return nil, fmt.Errorf("%s, %s: %w", cert, key, err)
		}
	}
	return r.connect(func() *tls.Config { return own.ClientConfig(authorities) }, options...)
}
