package issuer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

var errNobody = errors.New("nobody is admitted")

// Nobody refuses every call. It is the default of Config.Admit.
func Nobody(context.Context) (string, error) { return "", errNobody }

// Certificate is package server's AdmitCertificates. The identity is the certificate's subject, and
// not its key: an authority vouches for names, and a client that renews its certificate, or has
// several, stays one client.
func Certificate(ctx context.Context) (string, error) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return "", errors.New("the call has no peer")
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 {
		return "", errors.New("the caller has no verified certificate")
	}
	leaf := info.State.VerifiedChains[0][0]
	if len(leaf.Subject.Names) == 0 {
		return "", errors.New("the caller's certificate has no subject")
	}
	sum := sha256.Sum256(leaf.RawSubject)
	return "certificate " + hex.EncodeToString(sum[:]), nil
}

// admit asks Config.Admit.
func (i *Issuer) admit(ctx context.Context) (string, error) {
	identity, err := i.cfg.Admit(ctx)
	if err == nil {
		err = checkIdentity(identity)
	}
	if err == nil {
		return identity, nil
	}
	if _, ok := status.FromError(err); ok {
		return "", err
	}
	i.cfg.Logger.Debug("caller refused", "error", err)
	return "", status.Error(codes.Unauthenticated, "the caller is no client of this issuer")
}
