package server

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/admit"
)

// tokenKey is the key of a unit with this token.
func tokenKey(token []byte) string {
	key := sha256.Sum256(token)
	return string(key[:16])
}

// units returns what a batch asks to count. In a round that asks for tokens each report is a
// unit of its own with its token, which is not verified yet.
func (r *round) units(req *service.SubmitReportsRequest) ([]unit, error) {
	reports, err := fl.UnpackReports(r.mechanism, req.GetReports())
	if err != nil {
		return nil, err
	}
	keyed, tokens := len(req.GetBatchKey()), req.GetTokens()
	if r.tokens == nil {
		switch {
		case keyed < 16 || keyed > 64:
			return nil, fl.Invalid("batch_key", fmt.Sprintf("%d bytes", keyed), "must have 16 to 64")
		case len(tokens) > 0:
			return nil, fl.Invalid("tokens", fmt.Sprintf("%d bytes", len(tokens)), "must be empty in a round without an issuer's key")
		}
		return []unit{newUnit(string(req.GetBatchKey()), req.GetReports(), reports, nil)}, nil
	}
	switch want := len(reports) * admit.TokenBytes; {
	case keyed > 0:
		return nil, fl.Invalid("batch_key", fmt.Sprintf("%d bytes", keyed), "must be empty in a round with an issuer's key")
	case len(tokens) != want:
		return nil, because(admit.ErrToken, "tokens", fmt.Sprintf("%d bytes", len(tokens)), "must have %d: one of %d bytes for each of the %d reports",
			want, admit.TokenBytes, len(reports))
	}
	units := make([]unit, len(reports))
	for i := range units {
		token := tokens[i*admit.TokenBytes:][:admit.TokenBytes]
		packed, err := fl.PackReports(r.mechanism, nil, reports[i])
		if err != nil {
			return nil, err
		}
		units[i] = newUnit(tokenKey(token), packed, reports[i:i+1], token)
	}
	return units, nil
}

// verify returns the units that have tokens of this round, or all if the round asks for none. It
// takes about 40 µs for each.
func (r *round) verify(ctx context.Context, units []unit, drop drop) (good []unit, err error) {
	if r.tokens == nil {
		return units, nil
	}
	for _, u := range units {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := r.tokens.Verify(u.token)
		if err == nil {
			good = append(good, u)
			continue
		}
		err = because(err, "tokens", fmt.Sprintf("one with the id %x", u.key), "must be tokens of this round")
		if err := drop.orFail(u, err); err != nil {
			return nil, err
		}
	}
	return good, nil
}
