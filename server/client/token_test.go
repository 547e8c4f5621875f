package client_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/internal/issuer"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
	"github.com/hushgrad/hushgrad/server/journal"
)

// admission is a server with an open round that asks for tokens, and its issuer.
type admission struct {
	issuer   *issuer.Issuer
	rounds   *grpc.ClientConn
	tokens   *grpc.ClientConn
	operator *client.Operator
}

// made are private keys for all issuers of these tests: each takes a tenth of a second.
var made struct {
	sync.Mutex
	keys []*rsa.PrivateKey
}

// madeKeys returns keys that are made already, each once.
func madeKeys() func() (*rsa.PrivateKey, error) {
	n := 0
	return func() (*rsa.PrivateKey, error) {
		made.Lock()
		defer made.Unlock()
		if n == len(made.keys) {
			private, err := rsa.GenerateKey(rand.Reader, admit.KeyBits)
			if err != nil {
				return nil, err
			}
			made.keys = append(made.keys, private)
		}
		n++
		return made.keys[n-1], nil
	}
}

// admitOne starts an admission whose issuer takes every caller for the same client.
func admitOne(t *testing.T) *admission {
	t.Helper()
	i, err := issuer.New(issuer.Config{
		Journal: journal.NewMemory(), Logger: slog.New(slog.DiscardHandler), NewKey: madeKeys(),
		Admit: func(context.Context) (string, error) { return "anna", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	s, err := servertest.Start(server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	a := &admission{issuer: i, rounds: s.Conn(), operator: s.Operator(), tokens: serve(t, func(g *grpc.Server) { i.RegisterClients(g) })}
	a.open(t, "r")
	return a
}

// open opens a round that asks for tokens.
func (a *admission) open(t *testing.T, id string) {
	t.Helper()
	k, err := a.issuer.CreateKey(t.Context(), id, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.operator.OpenRound(t.Context(), fl.Round{
		ID: id, Mechanism: "coco", Dim: 20, Scale: 0.5, Epsilon: 2, MinReports: 1,
		Params: fl.Params{"sparsity": fl.Int(4)}, IssuerKey: k.PublicKey,
	}); err != nil {
		t.Fatal(err)
	}
}

// reports closes the round and returns how many reports were counted.
func (a *admission) reports(t *testing.T) int64 {
	t.Helper()
	if err := a.operator.CloseRound(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	e, err := a.operator.Estimate(t.Context(), "r", false)
	if err != nil {
		t.Fatal(err)
	}
	return e.Reports
}

func joinRound(t *testing.T, c *client.Client, id string) *client.Participation {
	t.Helper()
	p, err := c.Join(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encodeOne(t *testing.T, p *client.Participation) []byte {
	t.Helper()
	err := p.FetchToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report, err := p.Encode(nil, make([]float64, p.Round().Dim), nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// sendOne takes all steps of a client. The report is nil if there is no token for it.
func sendOne(t *testing.T, p *client.Participation) (report []byte, err error) {
	t.Helper()
	if err := p.FetchToken(t.Context()); err != nil {
		return nil, err
	}
	report = encodeOne(t, p)
	_, err = p.Submit(t.Context(), [][]byte{report})
	return report, err
}

func TestAClientSpendsItsToken(t *testing.T) {
	a, l := admitOne(t), openLedger(t, 10)
	opts := client.Options{Ledger: l, Purpose: "digits", Issuer: a.tokens}
	p := joinRound(t, newClient(t, a.rounds, opts), "r")
	var param *fl.ParamError
	if _, err := p.Encode(nil, make([]float64, 20), nil); !errors.As(err, &param) || param.Param != "token" || len(states(t, l)) != 0 {
		t.Errorf("a report before its token: %v, entries %v", err, states(t, l))
	}
	if _, err := p.Submit(t.Context(), [][]byte{make([]byte, 6)}); !errors.As(err, &param) || param.Param != "token" {
		t.Errorf("a submission before the token: %v", err)
	}
	for range 2 {
		if err := p.FetchToken(t.Context()); err != nil || p.Unfinished() != nil || !equal(states(t, l), ledger.Reserved) {
			t.Errorf("a token: %v, unfinished %x, entries %v", err, p.Unfinished(), states(t, l))
		}
	}
	if _, err := p.Encode(nil, make([]float64, 3), nil); !errors.As(err, &param) || !equal(states(t, l), ledger.Reserved) {
		t.Errorf("a gradient of the wrong length: %v, entries %v", err, states(t, l))
	}
	report := encodeOne(t, p)
	if _, err := p.Encode(nil, make([]float64, 20), nil); !errors.Is(err, ledger.ErrDuplicate) {
		t.Errorf("a second report before the submission: %v", err)
	}
	if !bytes.Equal(p.Unfinished(), report) || !equal(states(t, l), ledger.Reserved) || a.issuer.Keys()[0].Issued != 1 {
		t.Errorf("before the submission: unfinished %x, entries %v", p.Unfinished(), states(t, l))
	}
	for n := range uint64(2) {
		receipt, err := p.Submit(t.Context(), [][]byte{report})
		if err != nil || receipt != (client.Receipt{Accepted: 1 - n, Duplicates: n}) {
			t.Errorf("submission %d: %+v, %v", n, receipt, err)
		}
	}
	if p.Unfinished() != nil || !equal(states(t, l), ledger.Acknowledged) {
		t.Errorf("after the submission: unfinished %x, entries %v", p.Unfinished(), states(t, l))
	}
	// Joining again leaves nothing to do.
	again := joinRound(t, newClient(t, a.rounds, opts), "r")
	if err := again.FetchToken(t.Context()); again.Unfinished() != nil || !errors.Is(err, ledger.ErrDuplicate) {
		t.Errorf("a second token: %v, unfinished %x", err, again.Unfinished())
	}
	if n := a.reports(t); n != 1 {
		t.Errorf("%d reports were counted", n)
	}
}

// cut is a connection that breaks at one call: before the call arrives or before its answer.
type cut struct {
	grpc.ClientConnInterface
	method string
	after  bool
	calls  int // of the method
}

func (c *cut) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	if method != c.method {
		return c.ClientConnInterface.Invoke(ctx, method, args, reply, opts...)
	}
	c.calls++
	if c.after {
		if err := c.ClientConnInterface.Invoke(ctx, method, args, reply, opts...); err != nil {
			return err
		}
	}
	return status.Error(codes.Aborted, "killed")
}

func (c *cut) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if method != c.method {
		return c.ClientConnInterface.NewStream(ctx, desc, method, opts...)
	}
	c.calls++
	if !c.after {
		return nil, status.Error(codes.Aborted, "killed")
	}
	stream, err := c.ClientConnInterface.NewStream(ctx, desc, method, opts...)
	return deaf{stream}, err
}

// deaf is a stream whose answer is lost after it was given.
type deaf struct{ grpc.ClientStream }

func (d deaf) RecvMsg(m any) error {
	if err := d.ClientStream.RecvMsg(m); err != nil {
		return err
	}
	return status.Error(codes.Aborted, "killed")
}

// A client is killed at any step and starts again with nothing but its ledger. It sends the
// same report with the same token, which is counted once.
func TestAKilledClientIsCountedOnce(t *testing.T) {
	issue, submit := service.Issuer_IssueToken_FullMethodName, service.Rounds_SubmitReports_FullMethodName
	for name, c := range map[string]struct {
		method string
		after  bool
		state  ledger.State
	}{
		"before the issuer is asked":  {issue, false, ledger.Reserved},
		"before the issuer's answer":  {issue, true, ledger.Reserved},
		"before the report arrives":   {submit, false, ledger.Spent},
		"before the acknowledgement":  {submit, true, ledger.Spent},
		"after it has encoded":        {"", false, ledger.Reserved},
		"never, but starts all again": {"none", false, ledger.Acknowledged},
	} {
		a := admitOne(t)
		path := filepath.Join(t.TempDir(), "ledger")
		life := func(do func(l *ledger.Ledger)) {
			t.Helper()
			l, err := ledger.Open(path, ledger.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			do(l)
		}
		var report []byte
		life(func(l *ledger.Ledger) {
			if err := l.SetBudget("digits", ledger.Budget{Epsilon: 10, Relation: fl.ReplaceOne}); err != nil {
				t.Fatal(err)
			}
			rounds, tokens := &cut{a.rounds, c.method, c.after, 0}, &cut{a.tokens, c.method, c.after, 0}
			p := joinRound(t, newClient(t, rounds, client.Options{Ledger: l, Purpose: "digits", Issuer: tokens}), "r")
			if c.method == "" {
				report = encodeOne(t, p)
			} else {
				var err error
				report, err = sendOne(t, p)
				if cuts := rounds.calls + tokens.calls; (cuts == 1) != (status.Code(err) == codes.Aborted) || (cuts == 1) != (c.method != "none") {
					t.Errorf("%s: %d cuts, %v", name, cuts, err)
				}
			}
			if got := states(t, l); !equal(got, c.state) {
				t.Errorf("%s: entries %v, want %v", name, got, c.state)
			}
		})
		if c.method == submit { // the token is there; nobody would sign for it again
			if issued := a.issuer.Keys()[0].Issued; issued != 1 {
				t.Errorf("%s: %d tokens", name, issued)
			}
			if err := a.issuer.DropKey("r"); err != nil {
				t.Fatal(err)
			}
		}
		life(func(l *ledger.Ledger) {
			p := joinRound(t, newClient(t, a.rounds, client.Options{Ledger: l, Purpose: "digits", Issuer: a.tokens}), "r")
			left := p.Unfinished()
			if c.state == ledger.Acknowledged {
				if left != nil {
					t.Errorf("%s: %x is unfinished", name, left)
				}
				return
			}
			if !bytes.Equal(left, report) {
				t.Fatalf("%s: %x is unfinished, want %x", name, left, report)
			}
			if left == nil { // killed before the token came
				left = encodeOne(t, p)
			}
			if _, err := p.Encode(nil, make([]float64, 20), nil); !errors.Is(err, ledger.ErrDuplicate) {
				t.Errorf("%s: another report: %v", name, err)
			}
			receipt, err := p.Submit(t.Context(), [][]byte{left})
			if err != nil || receipt.Accepted+receipt.Duplicates != 1 || (receipt.Duplicates == 1) != (c.method == submit && c.after) {
				t.Errorf("%s: %+v, %v", name, receipt, err)
			}
			if got := states(t, l); !equal(got, ledger.Acknowledged) {
				t.Errorf("%s: in the end the entries are %v", name, got)
			}
		})
		if n := a.reports(t); n != 1 {
			t.Errorf("%s: %d reports", name, n)
		}
		for _, k := range a.issuer.Keys() {
			if k.Issued != 1 {
				t.Errorf("%s: %d tokens", name, k.Issued)
			}
		}
	}
}

// Rounds that ask for no tokens keep the batch key.
func TestAKilledClientIsCountedOnceWithoutTokens(t *testing.T) {
	s, err := servertest.Start(server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Operator().OpenRound(t.Context(), fl.Round{
		ID: "r", Mechanism: "coco", Dim: 20, Scale: 0.5, Epsilon: 2, MinReports: 1, Params: fl.Params{"sparsity": fl.Int(4)},
	}); err != nil {
		t.Fatal(err)
	}
	l := openLedger(t, 10)
	opts := client.Options{Ledger: l, Purpose: "digits"}
	broken := &cut{s.Conn(), service.Rounds_SubmitReports_FullMethodName, true, 0}
	p := joinRound(t, newClient(t, broken, opts), "r")
	if _, err := p.Submit(t.Context(), [][]byte{encodeOne(t, p)}); status.Code(err) != codes.Aborted {
		t.Fatal(err)
	}
	p = joinRound(t, newClient(t, s.Conn(), opts), "r")
	if receipt, err := p.Submit(t.Context(), [][]byte{p.Unfinished()}); err != nil || receipt != (client.Receipt{Duplicates: 1}) {
		t.Errorf("%+v, %v, want a duplicate", receipt, err)
	}
}

// Without a connection to the issuer nothing is charged.
func TestRoundsWithTokensNeedAnIssuer(t *testing.T) {
	a, l := admitOne(t), openLedger(t, 10)
	_, err := newClient(t, a.rounds, client.Options{Ledger: l, Purpose: "digits"}).Join(t.Context(), "r")
	var p *fl.ParamError
	if !errors.As(err, &p) || p.Param != "Issuer" || len(states(t, l)) != 0 {
		t.Errorf("%v, entries %v", err, states(t, l))
	}
	st := openRound(t)
	st.Round.IssuerKey = []byte{1, 2, 3}
	_, err = newClient(t, dial(t, &liar{status: st}), client.Options{Issuer: a.tokens}).Join(t.Context(), "r")
	if !errors.As(err, &p) || p.Param != "issuer_key" {
		t.Errorf("a key that is none: %v", err)
	}
}

// Without a ledger the first report that is submitted gets the token.
func TestWithoutALedgerOneReportGetsTheToken(t *testing.T) {
	a := admitOne(t)
	p := joinRound(t, newClient(t, a.rounds, client.Options{Issuer: a.tokens}), "r")
	first, second := encodeOne(t, p), encodeOne(t, p) // with one seed
	for _, reports := range [][][]byte{{first, second}, nil} {
		if _, err := p.Submit(t.Context(), reports); err == nil {
			t.Errorf("%d reports were submitted", len(reports))
		}
	}
	if p.Unfinished() != nil {
		t.Errorf("unfinished %x", p.Unfinished())
	}
	second[4] = first[4] ^ 1 // another slot
	for n := range uint64(2) {
		if receipt, err := p.Submit(t.Context(), [][]byte{first}); err != nil || receipt != (client.Receipt{Accepted: 1 - n, Duplicates: n}) {
			t.Errorf("submission %d: %+v, %v", n, receipt, err)
		}
	}
	if _, err := p.Submit(t.Context(), [][]byte{second}); err == nil {
		t.Error("a second report was submitted")
	}
	// Another participation of the same client draws another message.
	p = joinRound(t, newClient(t, a.rounds, client.Options{Issuer: a.tokens}), "r")
	if err := p.FetchToken(t.Context()); status.Code(err) != codes.AlreadyExists {
		t.Errorf("a second token: %v", err)
	}
	if n := a.reports(t); n != 1 {
		t.Errorf("%d reports were counted", n)
	}
}

// forger is an issuer that answers what it wants.
type forger struct {
	service.UnimplementedIssuerServer
	answers []func() ([]byte, error)
}

func (f *forger) IssueToken(context.Context, *service.IssueTokenRequest) (*service.IssueTokenResponse, error) {
	next := f.answers[0]
	f.answers = f.answers[1:]
	answer, err := next()
	return &service.IssueTokenResponse{BlindSignature: answer}, err
}

// An issuer that signs nothing costs the client nothing that it could still take back: the
// report has not left.
func TestABadIssuerGetsNoReportOut(t *testing.T) {
	a, l := admitOne(t), openLedger(t, 10)
	f := &forger{answers: []func() ([]byte, error){
		func() ([]byte, error) { return nil, nil },
		func() ([]byte, error) { return make([]byte, 256), nil },
		func() ([]byte, error) { return nil, status.Error(codes.Unauthenticated, "who?") },
		func() ([]byte, error) { return nil, status.Error(codes.Unavailable, "later") },
		func() ([]byte, error) { return nil, status.Error(codes.NotFound, "gone") },
	}}
	conn := serve(t, func(g *grpc.Server) { service.RegisterIssuerServer(g, f) })
	p := joinRound(t, newClient(t, a.rounds, client.Options{Ledger: l, Purpose: "digits", Issuer: conn}), "r")
	for n, check := range []func(error) bool{
		func(err error) bool { return errors.Is(err, admit.ErrToken) },
		func(err error) bool { return errors.Is(err, admit.ErrToken) },
		func(err error) bool { return status.Code(err) == codes.Unauthenticated },
		func(err error) bool { return status.Code(err) == codes.NotFound }, // after one attempt more
	} {
		if _, err := sendOne(t, p); err == nil || !check(err) {
			t.Errorf("answer %d: %v", n, err)
		}
	}
	if got := states(t, l); !equal(got, ledger.Reserved) || len(f.answers) != 0 {
		t.Errorf("entries %v, %d answers left", got, len(f.answers))
	}
	if err := a.operator.CloseRound(t.Context(), "r"); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("closing a round without reports: %v", err)
	}
}

func TestBearersNeedTransportSecurity(t *testing.T) {
	b := client.Bearer("secret")
	if headers, err := b.GetRequestMetadata(t.Context()); err != nil || fmt.Sprint(headers) != "map[authorization:Bearer secret]" || !b.RequireTransportSecurity() {
		t.Errorf("%v, %v", headers, err)
	}
}
