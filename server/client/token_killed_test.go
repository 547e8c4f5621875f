package client_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
)

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
