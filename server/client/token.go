package client

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/credentials"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server/admit"
)

// FetchToken fetches the token of a round that asks for one: the report is encoded after it, with the seed that the
// token assigns. In a round with a shuffler it fetches a second token, which the shuffler spends. In a round that asks for no
// tokens it does nothing. Call it some time before Submit, so that the moments at which the issuer and the server see
// a client say less about who is who.
//
// With a ledger it first reserves the report's cost. When the ledger refuses, the issuer is not asked, and the error wraps
// ledger.ErrBudget or ledger.ErrDuplicate. The ledger keeps the token from then on.
//
// The issuer signs one message of a client under each key, and that one again: after a
// failure the same tokens come. The error is the issuer's gRPC status, wrapped, or wraps
// admit.ErrToken when the issuer's answer is no signature.
func (p *Participation) FetchToken(ctx context.Context) (err error) {
	defer prefix.Error(&err, "client: fetch token")
	if !p.admitted() {
		return nil
	}
	p.spending.mu.Lock()
	defer p.spending.mu.Unlock()
	return p.spending.fetch(ctx)
}

// fetch draws the requests and gets the tokens, unless they are there. The caller holds s.mu.
func (s *spending) fetch(ctx context.Context) (err error) {
	if s.kept == nil {
		if err := s.ask(ctx); err != nil {
			return err
		}
	}
	if len(s.kept.Token) > 0 {
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

// ask reserves the charge, and keeps requests for the tokens. The caller holds s.mu.
func (s *spending) ask(ctx context.Context) (err error) {
	kept := &submission{Version: submissionVersion}
	if kept.Request, err = s.part.newRequest(s.part.round.IssuerKey); err == nil && s.part.sealing != nil {
		kept.OuterRequest, err = s.part.newRequest(s.part.round.OuterIssuerKey)
	}
	if err != nil {
		return err
	}
	var entry ledger.ID
	if s.ledger != nil {
		if entry, err = s.ledger.Reserve(ctx, s.charge); err != nil {
			return err
		}
	}
	if err := s.keep(entry, kept); err != nil { // nobody was asked yet
		return errors.Join(err, s.ledger.Release(entry))
	}
	s.entry, s.kept = entry, kept
	return nil
}

// needsToken is the error for a report before its token.
func needsToken() error {
	return fl.Invalid("token", "nothing", "must be there before the report: call FetchToken, because the report's seed is the token's")
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
