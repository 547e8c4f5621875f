package abi

import (
	"context"
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/admit"
)

// admission is the tokens of a client in a round that asks for them: one, and a second one for the
// shuffler if there is one.
type admission struct {
	requests []*admit.Request
	tokens   [][]byte // nil before the issuer has answered
	spent    bool     // a report was made for them
}

// tokenRequest is what the issuer's IssueToken takes.
type tokenRequest struct {
	TokenKeyID     []byte `json:"token_key_id"`    // base64, as is the message
	BlindedMessage []byte `json:"blinded_message"` // for IssueToken alone: the issuer knows who sends it
}

// newAdmission draws the requests for the tokens of a round.
func newAdmission(r fl.Round, digest [32]byte) (*admission, error) {
	a := &admission{}
	for _, key := range [][]byte{r.IssuerKey, r.OuterIssuerKey} {
		if len(key) == 0 {
			continue
		}
		request, err := admit.NewRequest(key, digest)
		if err != nil {
			return nil, err
		}
		a.requests = append(a.requests, request)
	}
	return a, nil
}

// describe returns the requests, nil on nil.
func (a *admission) describe() (out []tokenRequest) {
	if a == nil {
		return nil
	}
	for _, request := range a.requests {
		id := request.KeyID()
		out = append(out, tokenRequest{TokenKeyID: id[:], BlindedMessage: request.BlindedMessage()})
	}
	return out
}

// admits returns an error unless there are tokens for this number of reports. On nil, a round that
// asks for no tokens, it returns nil.
func (a *admission) admits(reports int) error {
	switch {
	case a == nil:
		return nil
	case reports != 1:
		return fl.Invalid("rows", reports, "must be 1: the round gives a client one token")
	case a.tokens == nil:
		return fl.Invalid("token", "nothing", "must be there before a report is made: the round asks for it")
	case a.spent:
		return fl.Invalid("token", "one that is spent", "must be for the one report of the client")
	}
	return nil
}

// assigns returns the mechanism with the seed that the first token assigns to the report. On nil it returns the mechanism.
func (a *admission) assigns(m fl.Mechanism) fl.Mechanism {
	if seeded, ok := m.(fl.SeededMechanism); ok && a != nil {
		return seeded.WithSeed(admit.Seed(a.tokens[0]))
	}
	return m
}

// token makes the tokens of the issuer's answers, blind signatures one after the other in the order of
// the requests, and keeps them for encode.
func token(_ context.Context, _ *Session, r *round, _ roundArg, payload []byte) (any, []byte, error) {
	if r.admission == nil {
		return nil, nil, fl.Invalid("round", r.ID, "must ask for tokens, and must be opened with a policy and tokens")
	}
	requests := r.admission.requests
	if want := len(requests) * admit.SignatureBytes; len(payload) != want {
		return nil, nil, fmt.Errorf("the issuer's answer: %w", fl.Invalid("blind_signature", fmt.Sprintf("%d bytes", len(payload)), "must have %d: one of %d for each of %d requests",
			want, admit.SignatureBytes, len(requests)))
	}
	var err error
	tokens := make([][]byte, len(requests))
	for i, request := range requests {
		if tokens[i], err = request.Finalize(payload[i*admit.SignatureBytes:][:admit.SignatureBytes]); err != nil {
			return nil, nil, fmt.Errorf("the issuer's answer: %w", err)
		}
	}
	r.admission.tokens = tokens
	return none{}, slices.Concat(tokens...), nil
}
