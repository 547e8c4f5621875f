package abi

import (
	"context"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/admit"
)

// admission is the one token of a client in a round that asks for tokens.
type admission struct {
	request *admit.Request
	token   []byte // nil before the issuer has answered
	spent   bool   // a report was made for it
}

// tokenRequest is what the issuer's IssueToken takes.
type tokenRequest struct {
	TokenKeyID     []byte `json:"token_key_id"`    // base64, as is the message
	BlindedMessage []byte `json:"blinded_message"` // for IssueToken alone: the issuer knows who sends it
}

// newAdmission draws the request for the token of a round.
func newAdmission(issuerKey []byte, digest [32]byte) (*admission, error) {
	request, err := admit.NewRequest(issuerKey, digest)
	if err != nil {
		return nil, err
	}
	return &admission{request: request}, nil
}

// describe returns the request, nil on nil.
func (a *admission) describe() *tokenRequest {
	if a == nil {
		return nil
	}
	id := a.request.KeyID()
	return &tokenRequest{TokenKeyID: id[:], BlindedMessage: a.request.BlindedMessage()}
}

// admits returns an error unless there is a token for this number of reports. On nil, a round that
// asks for no tokens, it returns nil.
func (a *admission) admits(reports int) error {
	switch {
	case a == nil:
		return nil
	case reports != 1:
		return fl.Invalid("rows", reports, "must be 1: the round gives a client one token")
	case a.token == nil:
		return fl.Invalid("token", "nothing", "must be there before a report is made: the round asks for it")
	case a.spent:
		return fl.Invalid("token", "one that is spent", "must be for the one report of the client")
	}
	return nil
}

// tokenArgs are the arguments of token.
type tokenArgs struct {
	Round uint64 `json:"round"`
}

// token makes the token of the issuer's answer, a blind signature, and keeps it for encode.
func token(_ context.Context, s *Session, args tokenArgs, payload []byte) (any, []byte, error) {
	r, err := held[*round](s, "round", args.Round)
	if err != nil {
		return nil, nil, err
	}
	if r.admission == nil {
		return nil, nil, fl.Invalid("round", r.ID, "must ask for tokens, and must be opened with a policy and tokens")
	}
	made, err := r.admission.request.Finalize(payload)
	if err != nil {
		return nil, nil, fmt.Errorf("the issuer's answer: %w", err)
	}
	r.admission.token = made
	return none{}, made, nil
}
