package client

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// Participation is what a [Client] does in one round: it encodes reports and submits them.
// [Client.Join] returns it for a round that meets the policy. It is safe for concurrent use.
//
// With a ledger it speaks for one client and makes one report. Without a ledger it makes
// as many reports as it is asked for, each under [Participation.Guarantee]. A client that
// makes several of them composes their guarantees. In a round that asks for tokens it sends one
// report, with the one token that the client gets.
type Participation struct {
	client    *Client
	round     fl.Round
	digest    [32]byte
	mechanism fl.Mechanism
	tier      int          // of the menu, if there is one
	guarantee fl.Guarantee // of this client's report
	spending  *spending    // nil without a ledger in a round that asks for no tokens
}

// Join fetches a round ("" is the newest open one), builds its mechanism and checks it
// against the policy. The server learns the round's id from it and nothing else. A round
// may offer a menu of guarantees; Join takes the weakest one that the policy allows.
func (c *Client) Join(ctx context.Context, roundID string) (*Participation, error) {
	resp, err := c.rounds.GetRound(ctx, &service.GetRoundRequest{RoundId: roundID})
	if err != nil {
		return nil, fmt.Errorf("client: join: %w", err)
	}
	if state := resp.GetStatus().GetState(); state != service.RoundState_ROUND_STATE_OPEN {
		return nil, fmt.Errorf("client: join: %w", fl.Invalid("state", state, "the round must be open"))
	}
	r, err := fl.RoundFromProto(resp.GetStatus().GetRound())
	if err != nil {
		return nil, fmt.Errorf("client: join: %w", err)
	}
	if roundID != "" && r.ID != roundID {
		return nil, fmt.Errorf("client: join: %w", fl.Invalid("id", r.ID, "must be %q, as asked for", roundID))
	}
	if err := c.opts.Policy.CheckRound(r); err != nil {
		return nil, fmt.Errorf("client: join: %w", err)
	}
	m, err := fl.Open(r)
	if err != nil {
		return nil, fmt.Errorf("client: join: %w", err)
	}
	if _, shared := m.(fl.SharedMechanism); shared { // its whole report is not for one server
		return nil, fmt.Errorf("client: join: %w", fl.Invalid("mechanism", r.Mechanism, "must be one whose reports go to one server: this client has a connection to one"))
	}
	tier, guarantee := 0, m.Guarantee()
	if err := c.opts.Policy.Check(r, guarantee); err != nil {
		return nil, fmt.Errorf("client: join: %w", err)
	}
	if menu, ok := m.(fl.TieredMechanism); ok {
		for i, g := range menu.Tiers() {
			if c.opts.Policy.Check(r, g) == nil {
				tier, guarantee = i, g
			}
		}
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, fmt.Errorf("client: join: %w", err)
	}
	p := &Participation{client: c, round: r, digest: digest, mechanism: m, tier: tier, guarantee: guarantee}
	if p.spending, err = c.newSpending(p); err != nil {
		return nil, fmt.Errorf("client: join: %w", err)
	}
	return p, nil
}

// Round returns the description of the round.
func (p *Participation) Round() fl.Round { return p.round }

// Mechanism returns the round's mechanism, built from the description.
func (p *Participation) Mechanism() fl.Mechanism { return p.mechanism }

// Guarantee is what one report promises its sender.
func (p *Participation) Guarantee() fl.Guarantee { return p.guarantee }

// Encode appends one report of a gradient to dst. rng supplies the private randomness; nil
// means a fresh fl.NewRand. On an error the result is dst as it was.
//
// With a ledger Encode first reserves the report's cost. When the ledger refuses, nothing is
// encoded and the error wraps ledger.ErrBudget or ledger.ErrDuplicate. The ledger then keeps the
// report until the server has acknowledged it, see Unfinished. It takes none of 12 MiB or more.
func (p *Participation) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	encode := func(dst []byte) ([]byte, error) { return p.mechanism.Encode(dst, grad, rng) }
	if menu, ok := p.mechanism.(fl.TieredMechanism); ok {
		encode = func(dst []byte) ([]byte, error) { return menu.EncodeTier(dst, p.tier, grad, rng) }
	}
	return p.encode(dst, encode)
}

// EncodeKeyValues is Encode for key-value pairs with distinct keys in increasing order.
// The error is a *fl.ParamError that names the mechanism when it takes no pairs.
func (p *Participation) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	m, ok := p.mechanism.(fl.KeyValueMechanism)
	if !ok {
		return dst, fmt.Errorf("client: encode: %w", fl.Invalid("mechanism", p.round.Mechanism, "must be one for key-value pairs"))
	}
	return p.encode(dst, func(dst []byte) ([]byte, error) { return m.EncodeKeyValues(dst, pairs, rng) })
}

// encode reserves the report's cost, if there is a ledger, and then encodes.
func (p *Participation) encode(dst []byte, encode func([]byte) ([]byte, error)) ([]byte, error) {
	if p.client.opts.Ledger == nil {
		return encode(dst)
	}
	return p.spending.encode(dst, encode)
}
