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
	config, err := followTLS(r.prefix, r.ca, r.cert, r.key, logger)
	if err != nil {
		return nil, err
	}
	return r.connect(config, options...)
}

// followTLS returns the settings of TLS for the next connection, from the files of the flags --tls-ca, --tls-cert and
// --tls-key with a prefix.
func followTLS(prefix, ca, cert, key string, logger *slog.Logger) (func() *tls.Config, error) {
	authorities, err := tlsfile.LoadAuthorities(ca, logger)
	if err != nil {
		return nil, fmt.Errorf("--%stls-ca: %w", prefix, err)
	}
	var own *tlsfile.Certificate
	if cert != "" {
		if own, err = tlsfile.LoadCertificate(cert, key, logger); err != nil {
			return nil, fmt.Errorf("--%[1]stls-cert, --%[1]stls-key: %[2]w", prefix, err)
		}
	}
	return func() *tls.Config { return own.ClientConfig(authorities) }, nil
}
