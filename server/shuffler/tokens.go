package shuffler

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/journal"
)

// errSpent is wrapped by errors about a token that came with another report before.
var errSpent = errors.New("the token was spent on another report")

// splitTokens cuts the tokens of a message apart, one for each of n reports. It returns nil for a round
// that asks for none. Nothing about them is verified yet.
func (r *round) splitTokens(message []byte, n int) ([][]byte, error) {
	got := fmt.Sprintf("%d bytes", len(message))
	switch want := n * admit.TokenBytes; {
	case r.tokens == nil && len(message) > 0:
		return nil, fl.Invalid("tokens", got, "must be empty: the round asks for none")
	case r.tokens == nil:
		return nil, nil
	case len(message) != want:
		return nil, r.refuse(because(admit.ErrToken, "tokens", got, "must have %d: one token of %d bytes under outer_issuer_key for each of the %d sealed reports",
			want, admit.TokenBytes, n))
	}
	tokens := make([][]byte, n)
	for i := range tokens {
		tokens[i] = message[i*admit.TokenBytes:][:admit.TokenBytes]
	}
	return tokens, nil
}

// admit returns nil if each entry has a token of this round that no report has come with before. It
// takes about 40 µs for each. The caller has claimed the tokens.
func (r *round) admit(ctx context.Context, entries []entry) error {
	if r.tokens == nil {
		return nil
	}
	seen := make(map[[keyBytes]byte]bool, len(entries))
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := r.shuffler.journal.Get(tokenKey(r.description.ID, e.spends))
		spent := err == nil || seen[e.spends]
		if err != nil && !errors.Is(err, journal.ErrNotFound) {
			return err
		}
		seen[e.spends] = true
		if spent {
			return r.refuse(because(errSpent, "tokens", e.name(), "must be new for another report"))
		}
		if err := r.tokens.Verify(e.token); err != nil {
			return r.refuse(because(err, "tokens", e.name(), "must be a token of this round under outer_issuer_key"))
		}
	}
	return nil
}

// name is what a message to the client calls the entry's token.
func (e entry) name() string { return fmt.Sprintf("the one of report %d of the message", e.at) }

// refuse notes that a token was refused. The log has the first refusal of a round, the tenth, the
// hundredth and so on: whoever sends bad tokens does not fill it.
func (r *round) refuse(err error) error {
	r.shuffler.metrics.refusedToken(err)
	n := r.refused.Add(1)
	for n > 1 && n%10 == 0 {
		n /= 10
	}
	if n == 1 {
		r.logger.Warn("reports without a good token are refused", "refusals", r.refused.Load(), "last", err)
	}
	return err
}

// spends returns the key in the journal of a token.
func (s *secret) spends(token []byte) [keyBytes]byte { return s.mac(s.tokens, sha256.Sum256(token)) }
