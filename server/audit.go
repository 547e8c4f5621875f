package server

import (
	"context"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// audit logs what an operator did, and who that is: the names of the certificate, or the address of a caller
// without one. A call that was refused has its error. Defer it first.
func (s operatorService) audit(ctx context.Context, action, round string, err *error) {
	fields := []any{"action", action, "by", callerOf(ctx)}
	if round != "" {
		fields = append(fields, "round", round)
	}
	if *err != nil {
		s.cfg.Logger.Warn("operator", append(fields, "error", *err)...)
		return
	}
	s.cfg.Logger.Info("operator", fields...)
}

// callerOf names the peer of a call.
func callerOf(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return "unknown"
	}
	if secure, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(secure.State.PeerCertificates) > 0 {
		shown := secure.State.PeerCertificates[0]
		var names []string
		if shown.Subject.CommonName != "" {
			names = append(names, shown.Subject.CommonName)
		}
		for _, name := range shown.DNSNames {
			if name != shown.Subject.CommonName {
				names = append(names, name)
			}
		}
		for _, uri := range shown.URIs {
			names = append(names, uri.String())
		}
		return strings.Join(names, ", ")
	}
	return p.Addr.String()
}
