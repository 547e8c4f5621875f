package client_test

import (
	"bytes"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/internal/issuer"
)

var long = flag.Bool("long", false, "send a report of 10^7 coordinates")

// A client is killed at any step and starts again with nothing but its ledger. What it sends has
// been kept before it leaves, is the same in both lives, and holds the token. Of two servers both shares are the same, each sealed to
// its server.
func TestAKilledClientSendsTheSameSealedBytes(t *testing.T) {
	issue, submit := service.Issuer_IssueTokens_FullMethodName, service.Rounds_SubmitReports_FullMethodName
	a := admitOne(t)
	for name, c := range map[string]struct {
		tokens bool
		shares bool // of two servers
		method string
		after  bool
		state  ledger.State
		first  int // items that the first life got out
	}{
		"before the issuer is asked":           {true, false, issue, false, ledger.Reserved, 0},
		"before the issuer's answer":           {true, false, issue, true, ledger.Reserved, 0},
		"before the report arrives":            {true, false, submit, false, ledger.Spent, 0},
		"before the acknowledgement":           {true, false, submit, true, ledger.Spent, 1},
		"before it arrives, without token":     {false, false, submit, false, ledger.Spent, 0},
		"before it is answered, without token": {false, false, submit, true, ledger.Spent, 1},
		"before the issuer's answer, of two":   {true, true, issue, true, ledger.Reserved, 0},
		"before the shares arrive":             {true, true, submit, false, ledger.Spent, 0},
		"before the shares are acknowledged":   {true, true, submit, true, ledger.Spent, 1},
		"before they are, without token":       {false, true, submit, true, ledger.Spent, 1},
	} {
		id := strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(name)
		var keys issuer.KeyInfo
		if c.tokens {
			var err error
			if keys, err = a.issuer.CreateKey(t.Context(), id, time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		s, conn := openShuffler(t, func(r *fl.Round) {
			if r.IssuerKey, r.OuterIssuerKey = keys.PublicKey, keys.OuterPublicKey; c.shares {
				twoServers(r)
			}
		})
		policy := anything
		if c.shares {
			policy = s.both()
		}
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
			if err := l.SetBudget("digits", ledger.Budget{Epsilon: 10, Delta: 1e-5, Relation: fl.ReplaceOne}); err != nil {
				t.Fatal(err)
			}
			rounds, issuer := &cut{conn, c.method, c.after, 0}, &cut{a.tokens, c.method, c.after, 0}
			p := joinWith(t, rounds, client.Options{Policy: policy, Ledger: l, Purpose: "digits", Issuer: issuer})
			var err error
			if report, err = sendOne(t, p); status.Code(err) != codes.Aborted || !equal(states(t, l), c.state) {
				t.Errorf("%s: entries %v, want %v, %v", name, states(t, l), c.state, err)
			}
		})
		if len(s.items) != c.first {
			t.Errorf("%s: the first life got %d reports out", name, len(s.items))
		}
		if c.tokens && c.method == submit { // nobody would sign again
			if err := a.issuer.DropKey(id); err != nil {
				t.Fatal(err)
			}
		}
		life(func(l *ledger.Ledger) {
			p := joinWith(t, conn, client.Options{Policy: policy, Ledger: l, Purpose: "digits", Issuer: a.tokens})
			left := p.Unfinished()
			if !bytes.Equal(left, report) {
				t.Fatalf("%s: %x is unfinished, want %x", name, left, report)
			}
			if left == nil { // killed before the token came
				left = encodeOne(t, p)
				report = left
			}
			for range 2 {
				if receipt, err := p.Submit(t.Context(), [][]byte{left}); err != nil || receipt.Accepted+receipt.Duplicates != 1 {
					t.Errorf("%s: %+v, %v", name, receipt, err)
				}
			}
			if !equal(states(t, l), ledger.Acknowledged) || p.Unfinished() != nil {
				t.Errorf("%s: in the end the entries are %v", name, states(t, l))
			}
		})
		if len(s.items) != 1 || len(s.messages) != 2+c.first || !bytes.Equal(s.reports[0], report) {
			t.Errorf("%s: %d different items in %d messages", name, len(s.items), len(s.messages))
		}
	}
}

// A ledger keeps a long report and what is sealed, and a second life sends the same bytes. With -long the report is the longest of
// docs/sizing.md, of 10^7 coordinates.
func TestALongReportIsKept(t *testing.T) {
	dim, atLeast := 1<<21, 5<<20
	if *long {
		dim, atLeast = 10_000_000, 50<<20
	}
	s, conn := openShuffler(t, func(r *fl.Round) { twoServers(r); r.Dim = dim })
	path := filepath.Join(t.TempDir(), "ledger")
	var report []byte
	for life := range 2 {
		l, err := ledger.Open(path, ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if life == 0 {
			err = l.SetBudget("digits", ledger.Budget{Epsilon: 3, Delta: 1e-5, Relation: fl.ReplaceOne})
		}
		if err != nil {
			t.Fatal(err)
		}
		var through grpc.ClientConnInterface = conn
		if life == 0 { // the answer is lost
			through = &cut{conn, service.Rounds_SubmitReports_FullMethodName, true, 0}
		}
		p := joinWith(t, through, client.Options{Policy: s.both(), Ledger: l, Purpose: "digits"})
		if life == 0 {
			report = encodeOne(t, p)
		}
		if left := p.Unfinished(); !bytes.Equal(left, report) || len(report) < atLeast {
			t.Fatalf("%d bytes are kept of a report of %d", len(left), len(report))
		}
		if _, err := p.Submit(t.Context(), [][]byte{report}); status.Code(err) != []codes.Code{codes.Aborted, codes.OK}[life] {
			t.Errorf("life %d: %v", life, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.items) != 1 || len(s.messages) != 2 || !slices.Equal(s.messages[0].Reports, s.messages[1].Reports) || !bytes.Equal(s.reports[0], report) {
		t.Errorf("%d different items in %d messages", len(s.items), len(s.messages))
	}
}
