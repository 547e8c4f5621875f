package parties

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/seal"
)

// atOnce is how many clients of a connection send at the same time.
const atOnce = 16

// Three are the three parties of a planned run. Every client fetches a token, seals its report and sends
// it by itself.
type Three struct {
	*client.Operator
	*Parties
	clients int
	policy  fl.Policy
	dir     string // of this run
	keys    service.IssuerOperatorClient
	issuer  grpc.ClientConnInterface // for clients; set by the first Connect
}

// openThree starts the parties of a run.
func openThree(ctx context.Context, run *plan.Run, o Options) (_ Site, err error) {
	s := &Three{clients: run.Clients}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.policy, err = Policy(ctx, run); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "hushgrad-mnist-"); err != nil {
		return nil, err
	}
	binary := o.Binary
	if binary == "" {
		fmt.Fprintln(o.Log, "building hushgrad for the three parties")
		if binary, err = Build(ctx, s.dir); err != nil {
			return nil, err
		}
	}
	fmt.Fprintln(o.Log, "starting the issuer, the shuffler and the aggregator")
	if s.Parties, err = Start(ctx, Config{Binary: binary, Dir: s.dir, Clients: run.Clients, Floor: run.Cohort, Rounds: run.Affordable, Dashboard: o.Dashboard}); err != nil {
		return nil, err
	}
	if s.Dashboard != "" {
		fmt.Fprintf(o.Log, "dashboard of the aggregator: %s\n", s.Dashboard)
	}
	if pins := s.policy.Shuffled; pins != nil {
		pins.SealKeys, pins.ShareKeys = [][32]byte{s.SealKey}, [][32]byte{seal.FingerprintOf(s.ShareKey)}
	}
	aggregator, issuer, err := s.Trainer()
	if err != nil {
		return nil, err
	}
	s.Operator, s.keys = client.NewOperator(aggregator), service.NewIssuerOperatorClient(issuer)
	return s, nil
}

// Policy returns what clients demand, but for the keys: what the plan says of one round, locally
// and behind this shuffler.
func Policy(ctx context.Context, run *plan.Run) (fl.Policy, error) {
	p := run.Policy()
	one, err := run.Spending.Promise(ctx, 1)
	if err != nil || one.Central == nil { // without privacy
		return p, err
	}
	if one.TwoServers { // the plan's bound, by these two
		p.Shuffled = &fl.ShuffledPolicy{Shufflers: []string{Shuffler}}
		return p, nil
	}
	p.Shuffled = &fl.ShuffledPolicy{Shufflers: []string{Shuffler}, MaxEpsilonLocal: p.MaxEpsilon, MaxEpsilon: *one.Central, MaxDelta: one.Delta}
	p.MaxEpsilon = 0 // in any other round
	return p, nil
}

// OpenRound has the issuer make the keys of a round, and opens it.
func (s *Three) OpenRound(ctx context.Context, r fl.Round) (fl.Round, error) {
	resp, err := s.keys.CreateKey(ctx, &service.CreateKeyRequest{RoundId: r.ID})
	if err != nil {
		return fl.Round{}, err
	}
	r.IssuerKey, r.OuterIssuerKey, r.Shuffler = resp.GetKey().GetPublicKey(), resp.GetKey().GetOuterPublicKey(), Shuffler
	if r.Mechanism == hdsum.SharesName {
		r.ShareKey = s.ShareKey
	}
	return s.Operator.OpenRound(ctx, r)
}

// Estimate fetches the estimate of a round, and has the issuer destroy the round's keys.
func (s *Three) Estimate(ctx context.Context, roundID string, wait bool) (*fl.Estimate, error) {
	e, err := s.Operator.Estimate(ctx, roundID, wait)
	if err != nil {
		return nil, err
	}
	_, err = s.keys.DropKey(ctx, &service.DropKeyRequest{RoundId: roundID})
	return e, err
}

// Connect returns a new connection to the shuffler, for clients, and what they demand and have beside it.
func (s *Three) Connect() (*grpc.ClientConn, client.Options, error) {
	conn, issuer, err := s.Clients()
	s.issuer = issuer
	return conn, client.Options{Policy: s.policy, Issuer: issuer}, err
}

// Admit fetches the tokens of the clients whose turns are first, first+1, …, each as its own client.
func (s *Three) Admit(ctx context.Context, joined *client.Participation, first, n int) ([]*client.Participation, error) {
	parts := make([]*client.Participation, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range parts {
		group.Go(func() (err error) {
			if parts[i], err = joined.As(as{s.issuer, s.Bearer((first + i) % s.clients)}); err == nil {
				err = parts[i].FetchToken(ctx)
			}
			return err
		})
	}
	return parts, group.Wait()
}

// Send sends the reports, each as its own client, and returns the number of bytes. It calls sent for each report.
func (s *Three) Send(ctx context.Context, parts []*client.Participation, reports [][]byte, sent func()) (int64, error) {
	format, err := seal.FormatOf(parts[0].Round(), parts[0].Mechanism())
	if err != nil {
		return 0, err
	}
	var bytes atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, report := range reports {
		group.Go(func() error {
			_, err := parts[i].Submit(ctx, [][]byte{report})
			if err == nil {
				bytes.Add(int64(format.Item() + admit.TokenBytes))
				sent()
			}
			return err
		})
	}
	err = group.Wait()
	return bytes.Load(), err
}

// Close ends the parties and removes their files.
func (s *Three) Close() (err error) {
	if s.Parties != nil {
		err = s.Parties.Close()
	}
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// as is a connection whose calls come from the client with this secret.
type as struct {
	grpc.ClientConnInterface
	secret client.Bearer
}

func (a as) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return a.ClientConnInterface.Invoke(ctx, method, args, reply, append(opts, grpc.PerRPCCredentials(a.secret))...)
}
