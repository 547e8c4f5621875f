package client_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
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
