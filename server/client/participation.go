package client

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/seal"
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
	issuer    service.IssuerClient // nil without one
	round     fl.Round
	digest    [32]byte
	mechanism fl.Mechanism
	terms     fl.Terms         // of this client's report
	sealing   *seal.ItemSealer // nil in a round without a shuffler
	spending  *spending        // nil without a ledger in a round that asks for no tokens
	doubtful  *doubtful        // what was submitted without spending and not acknowledged
}

// Join fetches a round ("" is the newest open one), builds its mechanism and checks it
// against the policy. A server that is unavailable is asked again, as often as Options.Attempts says.
// The server learns the round's id from it and nothing else. A round may offer a menu of guarantees; Join takes the weakest one that the policy allows.
//
// A round with a shuffler is joined over a connection to that shuffler. If the connection has TLS,
// its certificate must be valid for Round.Shuffler. Without TLS it is the caller's word that the
// party at the other end is that shuffler. Through a relay Relay.GatewayKey says who that party is. A
// guarantee with trust fl.TwoServers is accepted only if the policy names the mechanism and pins both
// parties: the seal key is the first server's, and the shuffler is the second server.
//
// With Options.LogKey the round must be proved to be in the server's log. The error of another round wraps ErrUnlogged.
func (c *Client) Join(ctx context.Context, roundID string) (_ *Participation, err error) {
	defer prefix.Error(&err, "client: join")
	r, err := c.openRound(ctx, roundID)
	if err != nil {
		return nil, err
	}
	if err := c.opts.Policy.CheckRound(r); err != nil {
		return nil, err
	}
	p := &Participation{client: c, issuer: c.issuer, round: r, doubtful: new(doubtful)}
	if p.digest, err = r.Digest(); err != nil {
		return nil, err
	}
	if p.mechanism, err = fl.Open(r); err != nil {
		return nil, err
	}
	if p.terms, err = c.accepter.Accept(c.opts.Policy, r, p.mechanism); err != nil {
		return nil, err
	}
	if r.Shuffler != "" {
		if p.sealing, err = seal.NewItemSealer(r, p.mechanism); err != nil {
			return nil, err
		}
	}
	if p.spending, err = p.newSpending(); err != nil {
		return nil, err
	}
	return p, nil
}

// openRound fetches the description of an open round.
func (c *Client) openRound(ctx context.Context, id string) (fl.Round, error) {
	var from peer.Peer
	var resp *service.GetRoundResponse
	err := c.retry(ctx, func() (err error) {
		resp, err = c.rounds.GetRound(ctx, &service.GetRoundRequest{RoundId: id}, grpc.Peer(&from))
		return err
	})
	if err != nil {
		return fl.Round{}, err
	}
	if state := resp.GetStatus().GetState(); state != service.RoundState_ROUND_STATE_OPEN {
		return fl.Round{}, fl.Invalid("state", state, "the round must be open")
	}
	r, err := fl.RoundFromProto(resp.GetStatus().GetRound())
	if err != nil {
		return fl.Round{}, err
	}
	if id != "" && r.ID != id {
		return fl.Round{}, fl.Invalid("id", r.ID, "must be %q, as asked for", id)
	}
	if r.Shuffler != "" {
		if err := checkPeer(from, r.Shuffler); err != nil {
			return fl.Round{}, err
		}
	}
	return r, c.checkLogged(r, resp.GetLogProof())
}

// As returns the participation of another client, whom the issuer knows by this connection. It costs
// next to nothing. Use it in a simulation, where one program is many clients that send one report
// each with a token each. The error is a *fl.ParamError for Ledger when there is one: a ledger
// belongs to one client.
func (p *Participation) As(issuer grpc.ClientConnInterface) (*Participation, error) {
	if p.client.opts.Ledger != nil {
		return nil, fmt.Errorf("client: as: %w", fl.Invalid("Ledger", "one", "must not be there: a ledger belongs to one client"))
	}
	other := *p
	other.issuer, other.doubtful = service.NewIssuerClient(issuer), new(doubtful)
	if p.spending != nil {
		other.spending = &spending{part: &other}
	}
	return &other, nil
}

// Round returns the description of the round.
func (p *Participation) Round() fl.Round { return p.round }

// Mechanism returns the round's mechanism, built from the description. After FetchToken its reports have the seed that
// the token assigns.
func (p *Participation) Mechanism() fl.Mechanism {
	if p.spending == nil {
		return p.mechanism
	}
	p.spending.mu.Lock()
	defer p.spending.mu.Unlock()
	if m, err := p.spending.mechanism(); err == nil {
		return m
	}
	return p.mechanism // there is no token yet
}

// Guarantee is what one report by itself promises its sender. A local one holds against everybody.
// One with trust fl.TwoServers holds against either server, as long as the other one is honest. It does not
// hold against both servers together: where clients add noise of their own (fl.OwnNoised), Guarantee is that noise's.
func (p *Participation) Guarantee() fl.Guarantee { return p.terms.Guarantee }

// Central is what one report promises against a party that sees only what the shuffler forwards, for
// a round of Round.MinReports clients. There is one only if the policy pins the shuffler and the
// seal key. It is an upper bound, at the MaxDelta of the policy where shuffling makes a local
// guarantee stronger. It does not hold against a server and a shuffler that work together: then
// Guarantee is what is left. It counts on the reports of Round.MinReports honest clients. A server that
// makes up reports itself knows which ones they are, and only the others hide a client.
func (p *Participation) Central() (fl.Guarantee, bool) {
	return p.terms.Central, p.terms.Central != fl.Guarantee{}
}

// Encode appends one report of a gradient to dst. rng supplies the private randomness; nil
// means a fresh fl.NewRand. On an error the result is dst as it was. In a round that asks for tokens it
// needs FetchToken before: the error is a *fl.ParamError for token.
//
// With a ledger Encode first reserves the report's cost. When the ledger refuses, nothing is
// encoded and the error wraps ledger.ErrBudget or ledger.ErrDuplicate. The ledger then keeps the
// report until the server has acknowledged it, see Unfinished. It takes at most ledger.MaxKept bytes, and in a round with a shuffler it
// also keeps what is sealed: a report of 128 MiB at most, which is longer than any of gaussian-shares.
//
// The report is not sealed yet: Submit does that. In a round of a mechanism for two servers it is the
// first server's share and then the second server's, which together show the gradient.
func (p *Participation) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return p.encode(dst, func(m fl.Mechanism, dst []byte) ([]byte, error) {
		if menu, ok := m.(fl.TieredMechanism); ok {
			return menu.EncodeTier(dst, p.terms.Tier, grad, rng)
		}
		return m.Encode(dst, grad, rng)
	})
}

// EncodeKeyValues is Encode for key-value pairs with distinct keys in increasing order.
// The error is a *fl.ParamError that names the mechanism when it takes no pairs.
func (p *Participation) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	if _, ok := p.mechanism.(fl.KeyValueMechanism); !ok {
		return dst, fmt.Errorf("client: encode: %w", fl.Invalid("mechanism", p.round.Mechanism, "must be one for key-value pairs"))
	}
	return p.encode(dst, func(m fl.Mechanism, dst []byte) ([]byte, error) {
		return m.(fl.KeyValueMechanism).EncodeKeyValues(dst, pairs, rng)
	})
}

// EncodeRecords is Encode for a client that holds many records, such as a hospital: one report of the sum of their
// gradients, which takes the memory of one gradient. [Participation.Guarantee] is then about one record, and a ledger
// pays for all of them at once. Everybody learns the number of records. A gradient with NaN or Inf counts as zero.
// The error is a *fl.ParamError that names the mechanism when it takes no records.
func (p *Participation) EncodeRecords(dst []byte, records iter.Seq[[]float64], rng *rand.Rand) ([]byte, error) {
	if _, ok := p.mechanism.(fl.RecordMechanism); !ok {
		return dst, fmt.Errorf("client: encode: %w", fl.Invalid("mechanism", p.round.Mechanism, "must be one for sums of records"))
	}
	return p.encode(dst, func(m fl.Mechanism, dst []byte) ([]byte, error) {
		sum, err := m.(fl.RecordMechanism).NewRecordSum(rng)
		if err != nil {
			return dst, err
		}
		for grad := range records {
			if err := sum.Add(grad); err != nil {
				return dst, err
			}
		}
		return sum.Append(dst)
	})
}

// encode reserves the report's cost, if there is a ledger, and then encodes.
func (p *Participation) encode(dst []byte, encode func(fl.Mechanism, []byte) ([]byte, error)) ([]byte, error) {
	if p.spending == nil {
		return encode(p.mechanism, dst)
	}
	return p.spending.encode(dst, encode)
}
