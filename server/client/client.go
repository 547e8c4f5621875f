package client

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/internal/translog"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// Options are the settings of a Client.
type Options struct {
	// Policy is what the client demands of a round. The zero Policy refuses
	// every round.
	Policy fl.Policy
	// Attempts is how often the client asks for a round, for a token, or for its reports to be taken, while who
	// is asked is unavailable. Default 5.
	Attempts int
	// BatchBytes is the size of the reports in one message. Default 512 KiB, at
	// most 1 MiB.
	BatchBytes int
	// Ledger, if not nil, has to allow every report before it is encoded, and
	// records what became of it. A Client with a ledger makes one report per round.
	Ledger *ledger.Ledger
	// Purpose names the ledger's budget that pays. Required with a Ledger.
	Purpose string
	// Issuer is a connection to the party that admits clients, with what it knows this client
	// by: a certificate or a Bearer. Rounds that ask for tokens need it. It stays the caller's.
	// See Participation.As for a program that is many clients.
	Issuer grpc.ClientConnInterface
	// LogKey is the public key of the server's log, as hushgrad log key prints it. The client then refuses a
	// round that is not proved to be in the log. Default: no proof is asked for.
	LogKey string
	// Witnesses are public keys of witnesses, all of whom have to have signed what the proof is under. A
	// server that has a witness's signature cannot show one client another log than everybody else.
	Witnesses []string
}

const maxBatchBytes = 1 << 20

// Client takes part in rounds. It is safe for concurrent use.
type Client struct {
	rounds service.RoundsClient
	issuer service.IssuerClient // nil without one
	opts   Options
	// oblivious says that the connection goes through a relay, where there are no streams.
	oblivious bool
	log       *translog.Keys // nil for none

	accepter fl.Accepter
	fetching sync.Mutex // held by FetchTokens
}

// New returns a client on a connection to the server, or to the shuffler in front of it. A [Relayed] hides the client's
// address from that party. The connection stays the caller's.
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
	c := &Client{rounds: service.NewRoundsClient(conn), opts: opts}
	_, c.oblivious = conn.(*Relayed)
	var err error
	if c.log, err = opts.logKeys(); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if opts.Issuer != nil {
		c.issuer = service.NewIssuerClient(opts.Issuer)
	}
	return c, nil
}

// ErrIncomplete is wrapped by errors for streams that ended too early or held
// what was not announced.
var ErrIncomplete = errors.New("incomplete or damaged transfer")

// damaged is an fl.Invalid that wraps ErrIncomplete.
func damaged(param string, got any, rule string, args ...any) error {
	return fmt.Errorf("%w: %w", fl.Invalid(param, got, rule, args...), ErrIncomplete)
}
