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

// Admit decides who the caller is, from the context of its call: peer.FromContext has the address
// and the TLS state, metadata.FromIncomingContext the headers, also of a call over HTTP. identity
// distinguishes clients: two callers with one identity get one token between them, and a party that
// can have two identities gets two. It has 1 to MaxIdentityBytes bytes. An error refuses the call: one with a
// gRPC status as it is, every other one as UNAUTHENTICATED without its text.
type Admit func(ctx context.Context) (identity string, err error)

var errNobody = errors.New("nobody is admitted")

// Nobody refuses every call. It is the default.
func Nobody(context.Context) (string, error) { return "", errNobody }

// Certificate admits callers with a client certificate that the TLS listener has verified. The
// identity is the certificate's subject, and not its key: an authority vouches for names, and a
// client that renews its certificate, or has several, stays one client. So the authority
// must give every client a subject of its own. Certificates without a subject are
// refused.
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
