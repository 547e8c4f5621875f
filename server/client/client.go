package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// Options are the settings of a Client.
type Options struct {
	// Policy is what the client demands of a round. The zero Policy refuses
	// every round.
	Policy fl.Policy
	// Attempts is how often a submission is tried while the server is
	// unavailable. Default 5.
	Attempts int
	// BatchBytes is the size of the reports in one message. Default 512 KiB, at
	// most 1 MiB.
	BatchBytes int
	// Ledger, if not nil, has to allow every report before it is encoded and
	// records what became of it. A Client with a ledger speaks for one client: one
	// report per round.
	Ledger *ledger.Ledger
	// Purpose names the ledger's budget that pays. Required with a Ledger.
	Purpose string
}

const (
	maxBatchBytes = 1 << 20
	// perReport is the cost of a report in a message beyond its own bytes, and
	// with it bounds the number of reports in a batch.
	perReport = 8
)

// Client is a participant of rounds. It is safe for concurrent use.
type Client struct {
	rounds service.RoundsClient
	opts   Options
}

// New returns a client on a connection. The connection stays the caller's.
func New(conn grpc.ClientConnInterface, opts Options) (*Client, error) {
	opts.Attempts = cmp.Or(opts.Attempts, 5)
	opts.BatchBytes = cmp.Or(opts.BatchBytes, 512<<10)
	switch {
	case opts.Attempts < 1:
		return nil, fmt.Errorf("client: %w", fl.Invalid("Attempts", opts.Attempts, "must be at least 1"))
	case opts.BatchBytes < 1 || opts.BatchBytes > maxBatchBytes:
		return nil, fmt.Errorf("client: %w", fl.Invalid("BatchBytes", opts.BatchBytes, "must be in [1, %d]", maxBatchBytes))
	case (opts.Ledger == nil) != (opts.Purpose == ""):
		return nil, fmt.Errorf("client: %w", fl.Invalid("Purpose", opts.Purpose, "must be given with a Ledger, and only then"))
	}
	return &Client{rounds: service.NewRoundsClient(conn), opts: opts}, nil
}

// Participation is one client's part in one round that meets its policy. It is
// safe for concurrent use.
type Participation struct {
	client    *Client
	round     fl.Round
	digest    [32]byte
	mechanism fl.Mechanism
	tier      int          // of the menu, if there is one
	guarantee fl.Guarantee // of this client's report
	spending  *spending    // nil without a ledger
}

// Join fetches a round ("" is the newest open one), builds its mechanism and
// checks it against the policy. It does not tell the server anything. Of a round that
// offers a menu of guarantees it takes the weakest one that the policy allows.
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
	m, err := fl.Open(r)
	if err != nil {
		return nil, fmt.Errorf("client: join: %w", err)
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
	if c.opts.Ledger != nil {
		p.spending = newSpending(c.opts.Ledger, ledger.Charge{
			Purpose: c.opts.Purpose, Round: digest, RoundID: r.ID, Mechanism: r.Mechanism, Guarantee: guarantee,
		})
	}
	return p, nil
}

// Round returns the description of the round.
func (p *Participation) Round() fl.Round { return p.round }

// Mechanism returns the round's mechanism, built from the description.
func (p *Participation) Mechanism() fl.Mechanism { return p.mechanism }

// Guarantee is what this client's report promises it.
func (p *Participation) Guarantee() fl.Guarantee { return p.guarantee }

// Encode appends one report of a gradient to dst. rng is private randomness,
// see fl.NewRand. With a ledger it first reserves the report's cost; the error
// wraps ledger.ErrBudget or ledger.ErrDuplicate when that is refused, and nothing
// has been encoded.
func (p *Participation) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	encode := func(dst []byte) ([]byte, error) { return p.mechanism.Encode(dst, grad, rng) }
	if menu, ok := p.mechanism.(fl.TieredMechanism); ok {
		encode = func(dst []byte) ([]byte, error) { return menu.EncodeTier(dst, p.tier, grad, rng) }
	}
	return p.encode(dst, encode)
}

// EncodeKeyValues is Encode for key-value pairs with distinct keys in increasing order;
// the error names the mechanism when it takes none.
func (p *Participation) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	m, ok := p.mechanism.(fl.KeyValueMechanism)
	if !ok {
		return dst, fmt.Errorf("client: encode: %w", fl.Invalid("mechanism", p.round.Mechanism, "must be one for key-value pairs"))
	}
	return p.encode(dst, func(dst []byte) ([]byte, error) { return m.EncodeKeyValues(dst, pairs, rng) })
}

// encode reserves the report's cost, if there is a ledger, and then encodes.
func (p *Participation) encode(dst []byte, encode func([]byte) ([]byte, error)) ([]byte, error) {
	if p.spending == nil {
		return encode(dst)
	}
	return p.spending.encode(dst, encode)
}

// Model is a published model.
type Model struct {
	Version uint64
	Format  string // media type of Data
	Data    []byte
}

// Model fetches the current model and checks its size and SHA-256.
func (c *Client) Model(ctx context.Context) (*Model, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rounds.GetModel(ctx, &service.GetModelRequest{})
	if err != nil {
		return nil, fmt.Errorf("client: model: %w", err)
	}
	m, err := receiveModel(stream)
	if err != nil {
		return nil, fmt.Errorf("client: model: %w", err)
	}
	return m, nil
}

// ErrIncomplete is wrapped by errors for streams that ended too early or held
// what was not announced.
var ErrIncomplete = errors.New("incomplete or damaged transfer")
