package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/seal"
)

// atOnce is how many clients of a player send at the same time.
const atOnce = 16

// threeParties are an issuer, a shuffler and an aggregator in processes of their own. Every client
// fetches a token, seals its report and sends it by itself.
type threeParties struct {
	run       *plan.Run
	binary    string // hushgrad; empty: it is built
	log       io.Writer
	dashboard string // address, "" for none
	dir       string // of this run
	running   *parties.Parties
	keys      service.IssuerOperatorClient
	issuer    grpc.ClientConnInterface // for clients; set by the first connect
	policy    fl.Policy
}

func (t *threeParties) start(ctx context.Context) (err error) {
	if t.policy, err = t.demand(ctx); err != nil {
		return err
	}
	if t.dir, err = os.MkdirTemp("", "hushgrad-mnist-"); err != nil {
		return err
	}
	if t.binary == "" {
		fmt.Fprintln(t.log, "building hushgrad for the three parties")
		if t.binary, err = parties.Build(ctx, t.dir); err != nil {
			return err
		}
	}
	fmt.Fprintln(t.log, "starting the issuer, the shuffler and the aggregator")
	t.running, err = parties.Start(ctx, parties.Config{Binary: t.binary, Dir: t.dir, Clients: t.run.Clients, Floor: t.run.Cohort, Rounds: t.run.Affordable, Dashboard: t.dashboard})
	if err != nil {
		return err
	}
	if t.running.Dashboard != "" {
		fmt.Fprintf(t.log, "dashboard of the aggregator: %s\n", t.running.Dashboard)
	}
	if pins := t.policy.Shuffled; pins != nil {
		pins.SealKeys = [][32]byte{t.running.SealKey}
	}
	return nil
}

// demand returns what clients demand, but for the seal key: what the plan says of one round, locally
// and behind this shuffler.
func (t *threeParties) demand(ctx context.Context) (fl.Policy, error) {
	p := t.run.Policy()
	one, err := t.run.Spending.Promise(ctx, 1)
	if err != nil || one.Central == nil { // without privacy
		return p, err
	}
	if one.TwoServers { // the plan's bound, by these two
		p.Shuffled = &fl.ShuffledPolicy{Shufflers: []string{parties.Shuffler}}
		return p, nil
	}
	p.Shuffled = &fl.ShuffledPolicy{Shufflers: []string{parties.Shuffler}, MaxEpsilonLocal: p.MaxEpsilon, MaxEpsilon: *one.Central, MaxDelta: one.Delta}
	p.MaxEpsilon = 0 // in any other round
	return p, nil
}

func (t *threeParties) operator() (*client.Operator, error) {
	aggregator, issuer, err := t.running.Trainer()
	if err != nil {
		return nil, err
	}
	t.keys = service.NewIssuerOperatorClient(issuer)
	return client.NewOperator(aggregator), nil
}

func (t *threeParties) connect() (conn *grpc.ClientConn, opts client.Options, err error) {
	conn, issuer, err := t.running.Clients()
	t.issuer = issuer
	return conn, client.Options{Policy: t.policy, Issuer: issuer}, err
}

// prepare has the issuer make the keys of the round.
func (t *threeParties) prepare(ctx context.Context, r *fl.Round) error {
	resp, err := t.keys.CreateKey(ctx, &service.CreateKeyRequest{RoundId: r.ID})
	r.IssuerKey, r.OuterIssuerKey, r.Shuffler = resp.GetKey().GetPublicKey(), resp.GetKey().GetOuterPublicKey(), parties.Shuffler
	return err
}

func (t *threeParties) send(ctx context.Context, part *client.Participation, first int, reports [][]byte, sent func()) (int64, error) {
	format, err := seal.FormatOf(part.Round(), part.Mechanism())
	if err != nil {
		return 0, err
	}
	var bytes atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, report := range reports {
		group.Go(func() error {
			one, err := part.As(as{t.issuer, t.running.Bearer((first + i) % t.run.Clients)})
			if err == nil {
				_, err = one.Submit(ctx, [][]byte{report})
			}
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

// finish has the issuer destroy the keys of the round.
func (t *threeParties) finish(ctx context.Context, id string) error {
	_, err := t.keys.DropKey(ctx, &service.DropKeyRequest{RoundId: id})
	return err
}

func (t *threeParties) close() (err error) {
	if t.running != nil {
		err = t.running.Close()
	}
	if t.dir != "" {
		err = errors.Join(err, os.RemoveAll(t.dir))
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

// sees is what a set of parties sees.
type sees struct{ who, what string }

// holding is what holds against sets of parties.
type holding struct {
	what    string
	against []sees
}

// printParties writes against whom what holds for all reports of a client together.
func printParties(w io.Writer, p plan.Promise, cohort int) error {
	reports := "the one report of a client"
	if p.Participations > 1 {
		reports = fmt.Sprintf("the %d reports of a client together", p.Participations)
	}
	text := fmt.Sprintf("for %s, if the parties do what they should and look at all they see:", reports)
	if err := (plan.Words{About: "against", Text: []string{text}}).Print(w); err != nil {
		return err
	}
	for _, h := range holds(p) {
		fmt.Fprintf(w, "  %s against\n", h.what)
		for _, row := range h.against {
			fmt.Fprintf(w, "    %-19s  sees %s\n", row.who, row.what)
		}
	}
	madeUp := "Reports that are made up hide nobody. They need tokens: only the issuer can make up some, together with the aggregator or the shuffler."
	if p.TwoServers {
		madeUp += " An aggregator with tokens for made-up reports reads a gradient."
	}
	return plan.Words{Text: []string{
		fmt.Sprintf("The central ε counts on %d honest clients in every round. %s", cohort, madeUp),
		"Sealed reports are as safe as HPKE with X25519.",
		"In this demo one user runs all three parties on one machine and sees everything.",
	}}.Print(w)
}

// holds lists all sets of the three parties by what holds against them.
func holds(p plan.Promise) []holding {
	central := fmt.Sprintf("central ε = %s, δ = %g", fl.FormatUp(*p.Central, 4), p.Delta)
	if p.TwoServers {
		return []holding{
			{central + ", for passive parties only,", []sees{
				{"issuer", "who asks for tokens, and the models"},
				{"shuffler", "who sends which share, and the models"},
				{"aggregator", "the other shares and the sums"},
				{"issuer+shuffler", "who sends which share, and the models"},
				{"issuer+aggregator", "the other shares, the sums; tokens name no client"},
			}},
			{"no privacy", []sees{
				{"shuffler+aggregator", "both shares: the gradients"},
				{"all three", "both shares: the gradients"},
			}},
		}
	}
	return []holding{
		{central, []sees{
			{"issuer", "who asks for tokens, and the models"},
			{"shuffler", "who sends sealed reports, and the models"},
			{"aggregator", "the shuffled reports"},
			{"issuer+shuffler", "who takes part, and the models"},
			{"issuer+aggregator", "the shuffled reports; tokens name no client"},
		}},
		{fmt.Sprintf("local ε = %s, δ = %g", fl.FormatUp(*p.LocalTotal, 4), p.LocalDelta), []sees{
			{"shuffler+aggregator", "whose each report is"},
			{"all three", "whose each report is"},
		}},
	}
}
