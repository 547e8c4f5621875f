package client

import (
	"context"
	"fmt"

	"google.golang.org/grpc/credentials"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/admit"
)

// FetchToken fetches the token for the report that Encode returned, and keeps it in the ledger.
// Submit does so, too. Call it some time before, so that the moments at which the issuer and the
// server see a client say less about who is who. Without a ledger, and in a round that asks for
// no tokens, there is nothing to fetch ahead, and it does nothing.
//
// The issuer signs one message of a client for each round, and that one again: after a
// failure the same token comes. The error is the issuer's gRPC status, wrapped, or wraps
// admit.ErrToken when the issuer's answer is no signature.
func (p *Participation) FetchToken(ctx context.Context) error {
	if p.client.opts.Ledger == nil || !p.admitted() {
		return nil
	}
	p.spending.mu.Lock()
	defer p.spending.mu.Unlock()
	if p.spending.kept == nil {
		return fmt.Errorf("client: fetch token: %w", fl.Invalid("report", "nothing", "must be encoded first"))
	}
	if err := p.spending.fetch(ctx); err != nil {
		return fmt.Errorf("client: fetch token: %w", err)
	}
	return nil
}

// fetch gets the token of what is kept, unless it is there or none is needed. The caller holds
// s.mu.
func (s *spending) fetch(ctx context.Context) error {
	if len(s.kept.Token) > 0 || !s.part.admitted() {
		return nil
	}
	request, err := admit.ParseRequest(s.kept.Request, s.part.round.IssuerKey, s.part.digest)
	if err != nil {
		return err
	}
	id := request.KeyID()
	var resp *service.IssueTokenResponse
	err = s.part.client.retry(ctx, func() (err error) {
		resp, err = s.part.issuer.IssueToken(ctx, &service.IssueTokenRequest{TokenKeyId: id[:], BlindedMessage: request.BlindedMessage()})
		return err
	})
	if err != nil {
		return fmt.Errorf("issuer: %w", err)
	}
	kept := *s.kept
	if kept.Token, err = request.Finalize(resp.GetBlindSignature()); err != nil {
		return err
	}
	if err := s.keep(s.entry, &kept); err != nil {
		return err
	}
	s.kept = &kept
	return nil
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
