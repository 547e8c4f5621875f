package client

import (
	"context"
	"fmt"

	"google.golang.org/grpc/credentials"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
)

// FetchToken fetches the token for the report that Encode returned, and keeps it in the ledger. In a
// round with a shuffler it fetches a second one, which the shuffler spends. Submit does so, too. Call it
// some time before, so that the moments at which the issuer and the server see a client say less about
// who is who. Without a ledger, and in a round that asks for
// no tokens, there is nothing to fetch ahead, and it does nothing.
//
// The issuer signs one message of a client under each key, and that one again: after a
// failure the same tokens come. The error is the issuer's gRPC status, wrapped, or wraps
// admit.ErrToken when the issuer's answer is no signature.
func (p *Participation) FetchToken(ctx context.Context) (err error) {
	defer prefix.Error(&err, "client: fetch token")
	if p.client.opts.Ledger == nil || !p.admitted() {
		return nil
	}
	p.spending.mu.Lock()
	defer p.spending.mu.Unlock()
	if p.spending.kept == nil {
		return fl.Invalid("report", "nothing", "must be encoded first")
	}
	return p.spending.fetch(ctx)
}

// fetch gets the tokens of what is kept, unless they are there or none is needed. The caller holds
// s.mu.
func (s *spending) fetch(ctx context.Context) (err error) {
	if len(s.kept.Token) > 0 || !s.part.admitted() {
		return nil
	}
	kept := *s.kept
	if kept.Token, err = s.token(ctx, s.part.round.IssuerKey, kept.Request); err != nil {
		return err
	}
	if s.part.sealing != nil {
		if kept.OuterToken, err = s.token(ctx, s.part.round.OuterIssuerKey, kept.OuterRequest); err != nil {
			return err
		}
	}
	if err := s.keep(s.entry, &kept); err != nil {
		return err
	}
	s.kept = &kept
	return nil
}

// token gets the token under one key of the round by the request that is kept for it.
func (s *spending) token(ctx context.Context, issuerKey, kept []byte) ([]byte, error) {
	request, err := admit.ParseRequest(kept, issuerKey, s.part.digest)
	if err != nil {
		return nil, err
	}
	id := request.KeyID()
	var resp *service.IssueTokenResponse
	err = s.part.client.retry(ctx, func() (err error) {
		resp, err = s.part.issuer.IssueToken(ctx, &service.IssueTokenRequest{TokenKeyId: id[:], BlindedMessage: request.BlindedMessage()})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	return request.Finalize(resp.GetBlindSignature())
}

// Bearer is the secret by which an issuer knows a client, for grpc.WithPerRPCCredentials. It
// leaves only over a connection with transport security.
type Bearer string

var _ credentials.PerRPCCredentials = Bearer("")

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b Bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (Bearer) RequireTransportSecurity() bool { return true }
