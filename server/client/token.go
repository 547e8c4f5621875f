package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	return fetch(ctx, p.spending)
}

// FetchTokens fetches the tokens of several rounds, as FetchToken does for each, in one call of the issuer for every
// 32 rounds. Use it ahead of time, for the open rounds in which the client is going to take part. A client that fetches
// all of them at one moment shows the issuer one time, which says nothing about when its reports are sent, or whether. The
// ledger is charged for all of these rounds at once. The participations are of this client: others are a *fl.ParamError for participations.
//
// The issuer signs all messages of a call or none. The error names the round that the ledger refuses. The rounds before it then
// stay reserved, and the issuer was not asked.
func (c *Client) FetchTokens(ctx context.Context, participations ...*Participation) (err error) {
	defer prefix.Error(&err, "client: fetch tokens")
	c.fetching.Lock() // nobody else holds several participations
	defer c.fetching.Unlock()
	var wanted []*spending
	for _, p := range participations {
		switch {
		case p.issuer != c.issuer:
			return fl.Invalid("participations", "one of round "+p.round.ID, "must be of this client")
		case p.admitted() && !slices.Contains(wanted, p.spending):
			wanted = append(wanted, p.spending)
		}
	}
	for _, s := range wanted {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	return fetch(ctx, wanted...)
}

// fetch draws the requests and gets the tokens that are not there, from the issuer of the first participation. The caller holds the locks.
func fetch(ctx context.Context, all ...*spending) error {
	var missing []*spending
	for _, s := range all {
		if s.kept == nil {
			if err := s.ask(ctx); err != nil {
				return fmt.Errorf("round %s: %w", s.part.round.ID, err)
			}
		}
		if len(s.kept.Token) == 0 {
			missing = append(missing, s)
		}
	}
	for some := range slices.Chunk(missing, roundsPerCall) {
		if err := fetchSome(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// roundsPerCall is for how many rounds an issuer signs in one call, with two keys each.
const roundsPerCall = 32

// fetchSome gets the tokens of some rounds in one call.
func fetchSome(ctx context.Context, some []*spending) error {
	var requests []*admit.Request
	for _, s := range some {
		own, err := s.requests()
		if err != nil {
			return err
		}
		requests = append(requests, own...)
	}
	answers, err := some[0].part.signed(ctx, requests)
	if err != nil {
		return fmt.Errorf("issuer: %w", err)
	}
	if len(answers) != len(requests) {
		return fmt.Errorf("issuer: %w: %w", admit.ErrToken, fl.Invalid("blind_signatures", len(answers), "must be %d", len(requests)))
	}
	for _, s := range some {
		kept := *s.kept
		for _, token := range s.tokens(&kept) {
			if *token, err = requests[0].Finalize(answers[0]); err != nil {
				return fmt.Errorf("round %s: %w", s.part.round.ID, err)
			}
			requests, answers = requests[1:], answers[1:]
		}
		if err := s.keep(s.entry, &kept); err != nil {
			return err
		}
		s.kept = &kept
	}
	return nil
}

// tokens returns where the tokens of a submission are, in the order of requests.
func (s *spending) tokens(of *submission) []*[]byte {
	if s.part.sealing == nil {
		return []*[]byte{&of.Token}
	}
	return []*[]byte{&of.Token, &of.OuterToken}
}

// requests returns the requests that are kept.
func (s *spending) requests() (all []*admit.Request, err error) {
	keys, kept := [][]byte{s.part.round.IssuerKey, s.part.round.OuterIssuerKey}, [][]byte{s.kept.Request, s.kept.OuterRequest}
	all = make([]*admit.Request, len(s.tokens(s.kept)))
	for n := range all {
		if all[n], err = admit.ParseRequest(kept[n], keys[n], s.part.digest); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// signed asks the issuer for the signatures of some requests.
func (p *Participation) signed(ctx context.Context, requests []*admit.Request) (answers [][]byte, err error) {
	var ids, blinded []byte
	for _, r := range requests {
		id := r.KeyID()
		ids, blinded = append(ids, id[:]...), append(blinded, r.BlindedMessage()...)
	}
	err = p.client.retry(ctx, func() error {
		if len(requests) == 1 {
			resp, err := p.issuer.IssueToken(ctx, &service.IssueTokenRequest{TokenKeyId: ids, BlindedMessage: blinded})
			answers = [][]byte{resp.GetBlindSignature()}
			return err
		}
		resp, err := p.issuer.IssueTokens(ctx, &service.IssueTokensRequest{TokenKeyIds: ids, BlindedMessages: blinded})
		answers = slices.Collect(slices.Chunk(resp.GetBlindSignatures(), admit.SignatureBytes))
		return err
	})
	return answers, err
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
