package client_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/client"
)

// listing is a connection that lists the methods that were called.
type listing struct {
	grpc.ClientConnInterface
	methods []string
}

func (l *listing) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	l.methods = append(l.methods, method)
	return l.ClientConnInterface.Invoke(ctx, method, args, reply, opts...)
}

// A client fetches the tokens of three rounds in one call. The process ends, and the issuer is gone. Another process of the client
// reports in each round with what the ledger has.
func TestTokensOfManyRoundsAreFetchedAhead(t *testing.T) {
	a, rounds := admitOne(t), []string{"r", "s", "t"}
	a.open(t, "s")
	a.open(t, "t")
	path := filepath.Join(t.TempDir(), "ledger")
	life := func(issuer grpc.ClientConnInterface, do func(c *client.Client, parts []*client.Participation) error) error {
		t.Helper()
		l, err := ledger.Open(path, ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := l.SetBudget("digits", ledger.Budget{Epsilon: 10, Relation: fl.ReplaceOne}); err != nil {
			t.Fatal(err)
		}
		c := newClient(t, a.rounds, client.Options{Ledger: l, Purpose: "digits", Issuer: issuer})
		var parts []*client.Participation
		for _, id := range rounds {
			parts = append(parts, joinRound(t, c, id))
		}
		return do(c, parts)
	}
	lost := &cut{a.tokens, service.Issuer_IssueTokens_FullMethodName, true, 0}
	if err := life(lost, func(c *client.Client, parts []*client.Participation) error {
		return c.FetchTokens(t.Context(), parts...)
	}); status.Code(err) != codes.Aborted {
		t.Fatalf("an answer that is lost: %v", err)
	}
	calls := &listing{ClientConnInterface: a.tokens}
	err := life(calls, func(c *client.Client, parts []*client.Participation) error {
		return errors.Join(c.FetchTokens(t.Context(), append(parts, parts[0])...), c.FetchTokens(t.Context(), parts...), parts[1].FetchToken(t.Context()), c.FetchTokens(t.Context()))
	})
	if err != nil || !slices.Equal(calls.methods, []string{service.Issuer_IssueTokens_FullMethodName}) {
		t.Errorf("%v, calls %q, want one", err, calls.methods)
	}
	for _, k := range a.issuer.Keys() {
		if k.Issued != 1 {
			t.Errorf("round %s: %d tokens", k.RoundID, k.Issued)
		}
		if err := a.issuer.DropKey(k.RoundID); err != nil {
			t.Fatal(err)
		}
	}
	calls.methods = nil
	err = life(calls, func(_ *client.Client, parts []*client.Participation) error {
		for _, p := range parts {
			if _, err := sendOne(t, p); err != nil {
				return err
			}
		}
		return nil
	})
	if n := a.reports(t); err != nil || n != 1 || len(calls.methods) != 0 {
		t.Errorf("%v, %d reports in the first round, the issuer got %q", err, n, calls.methods)
	}
}

// What is wrong with one of several rounds is an error that names it, and nobody was asked.
func TestTokensOfManyRoundsThatAreRefused(t *testing.T) {
	a, l := admitOne(t), openLedger(t, 3) // enough for one report
	a.open(t, "s")
	calls := &listing{ClientConnInterface: a.tokens}
	c := newClient(t, a.rounds, client.Options{Ledger: l, Purpose: "digits", Issuer: calls})
	first, second := joinRound(t, c, "r"), joinRound(t, c, "s")
	err := c.FetchTokens(t.Context(), first, second)
	if !errors.Is(err, ledger.ErrBudget) || !strings.Contains(err.Error(), "round s") || !equal(states(t, l), ledger.Reserved) {
		t.Errorf("a budget for one round: %v, entries %v", err, states(t, l))
	}
	var param *fl.ParamError
	stranger := joinRound(t, newClient(t, a.rounds, client.Options{Issuer: a.tokens}), "s")
	if err := c.FetchTokens(t.Context(), first, stranger); !errors.As(err, &param) || param.Param != "participations" || len(calls.methods) != 0 {
		t.Errorf("a participation of another client: %v, calls %q", err, calls.methods)
	}
	other, err := stranger.As(calls)
	if err != nil {
		t.Fatal(err)
	}
	if err := newClient(t, a.rounds, client.Options{Issuer: a.tokens}).FetchTokens(t.Context(), other); !errors.As(err, &param) || param.Param != "participations" {
		t.Errorf("a participation as another client: %v", err)
	}
}

// manyForger answers calls for many tokens with what it wants.
type manyForger struct {
	service.UnimplementedIssuerServer
	answer []byte
}

func (f *manyForger) IssueTokens(context.Context, *service.IssueTokensRequest) (*service.IssueTokensResponse, error) {
	return &service.IssueTokensResponse{BlindSignatures: f.answer}, nil
}

// Answers that are no signatures make no token, and the right ones still come after them.
func TestABadIssuerGivesNoTokensOfManyRounds(t *testing.T) {
	a := admitOne(t)
	a.open(t, "s")
	f := &manyForger{}
	conn := serve(t, func(g *grpc.Server) { service.RegisterIssuerServer(g, f) })
	c := newClient(t, a.rounds, client.Options{Issuer: conn})
	parts := []*client.Participation{joinRound(t, c, "r"), joinRound(t, c, "s")}
	for _, n := range []int{0, 1, 256, 511, 512, 513, 768} {
		f.answer = make([]byte, n)
		if err := c.FetchTokens(t.Context(), parts...); !errors.Is(err, admit.ErrToken) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := parts[0].Encode(nil, make([]float64, 20), nil); err == nil {
		t.Error("a report without a token")
	}
}
