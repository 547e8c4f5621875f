package client_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/seal"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/tiers"
)

// Without ledger and tokens any number of reports leave, each sealed by itself, and the same bytes
// again while the shuffler is unavailable.
func TestEachReportIsSealedByItself(t *testing.T) {
	const n = 300
	s, conn := openShuffler(t, func(*fl.Round) {})
	s.refusals = 1
	p := joinWith(t, conn, client.Options{Policy: anything, BatchBytes: 7 * s.format.Item()})
	var want [][]byte
	for range n {
		want = append(want, encodeOne(t, p))
	}
	receipt, err := p.Submit(t.Context(), want)
	if err != nil || receipt != (client.Receipt{Duplicates: n}) || len(s.items) != n {
		t.Fatalf("%+v, %d items, %v", receipt, len(s.items), err)
	}
	for i := range want {
		if !bytes.Equal(s.reports[i], want[i]) {
			t.Errorf("report %d is % x, want % x", i, s.reports[i], want[i])
		}
	}
	messages := len(s.messages) / 2
	if got := (n + 6) / 7; messages != got {
		t.Errorf("%d messages, want %d of 7 reports", messages, got)
	}
	for i := range messages {
		if !bytes.Equal(s.messages[i].Reports, s.messages[messages+i].Reports) {
			t.Errorf("message %d is not the same in the second attempt", i)
		}
	}
	// To submit the same reports again is to send others.
	if receipt, err := p.Submit(t.Context(), want[:1]); err != nil || receipt.Accepted != 1 {
		t.Errorf("another submission: %+v, %v", receipt, err)
	}
	var param *fl.ParamError
	if _, err := p.Submit(t.Context(), [][]byte{want[0][1:]}); !errors.As(err, &param) || param.Param != "report" {
		t.Errorf("a short report: %v", err)
	}
}

// Each share is sealed to its server. Together they are the report.
func TestTwoServersGetTheirShares(t *testing.T) {
	s, conn := openShuffler(t, twoServers)
	p := joinWith(t, conn, client.Options{Policy: s.both()})
	report, err := p.Encode(nil, make([]float64, 8), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Submit(t.Context(), [][]byte{report}); err != nil {
		t.Fatal(err)
	}
	m := p.Mechanism().(fl.SharedMechanism)
	if len(s.reports) != 1 || !bytes.Equal(s.reports[0], report) || s.format.Second != m.ShareBytes(fl.SecondServer) || len(s.messages[0].Reports) != s.format.Item() {
		t.Errorf("%d reports, the first % x, want % x", len(s.reports), s.reports, report)
	}
	if g, ok := p.Central(); !ok || g != p.Guarantee() || g.Trust != fl.TwoServers {
		t.Errorf("central guarantee %v, %t", g, ok)
	}
	for name, c := range map[string]struct {
		change func(*fl.Policy)
		param  string
	}{
		"not by its name":  {func(p *fl.Policy) { p.Mechanisms = nil }, "mechanism"},
		"no pins":          {func(p *fl.Policy) { p.Shuffled = nil }, "shuffler"},
		"the first server": {func(p *fl.Policy) { p.Shuffled.SealKeys = nil }, "seal_key"},
		"the second one":   {func(p *fl.Policy) { p.Shuffled.Shufflers = []string{"other.example"} }, "shuffler"},
		"its key":          {func(p *fl.Policy) { p.Shuffled.ShareKeys = p.Shuffled.SealKeys }, "share_key"},
		"its ε":            {func(p *fl.Policy) { p.MaxEpsilon = 0.5 }, "epsilon"},
	} {
		policy := s.both()
		c.change(&policy)
		refused, err := client.New(conn, client.Options{Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		_, err = refused.Join(t.Context(), "r")
		var param *fl.ParamError
		if !errors.Is(err, fl.ErrPolicy) || !errors.As(err, &param) || param.Param != c.param {
			t.Errorf("%s: %v, want ErrPolicy naming %s", name, err, c.param)
		}
	}
}

// A site's ledger pays once for all of its records, and nothing for records that cannot be read to their end.
func TestASitePaysOnceForItsRecords(t *testing.T) {
	s, conn := openShuffler(t, func(r *fl.Round) { twoServers(r); r.Params = fl.Params{fl.ParamRecords: fl.Int(3)} })
	l := openLedger(t, 3)
	if err := l.SetBudget("digits", ledger.Budget{Epsilon: 3, Delta: 1e-5, Relation: fl.ReplaceOne}); err != nil {
		t.Fatal(err)
	}
	p := joinWith(t, conn, client.Options{Policy: s.both(), Ledger: l, Purpose: "digits"})
	record := make([]float64, 8)
	if _, err := p.EncodeRecords(nil, slices.Values([][]float64{record, record, record, record}), nil); err == nil {
		t.Error("four records of three were encoded")
	}
	report, err := p.EncodeRecords(nil, slices.Values([][]float64{record, record, record}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := states(t, l); !equal(got, ledger.Released, ledger.Reserved) {
		t.Errorf("the entries are %v", got)
	}
	if _, err := p.EncodeRecords(nil, slices.Values([][]float64{record}), nil); !errors.Is(err, ledger.ErrDuplicate) {
		t.Errorf("a second report: %v", err)
	}
	if _, err := p.Submit(t.Context(), [][]byte{report}); err != nil || len(s.reports) != 1 || !bytes.Equal(s.reports[0], report) || report[0] != 3 {
		t.Errorf("%d reports, %v", len(s.reports), err)
	}
	other, conn := openShuffler(t, func(*fl.Round) {})
	ternary := joinWith(t, conn, client.Options{Policy: anything})
	var param *fl.ParamError
	if _, err := ternary.EncodeRecords(nil, slices.Values([][]float64{record}), nil); !errors.As(err, &param) || param.Param != "mechanism" || len(other.reports) != 0 {
		t.Errorf("a mechanism for clients only: %v", err)
	}
}

func TestRoundsThatCannotBeSealedAreRefused(t *testing.T) {
	key, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		round fl.Round
		param string
	}{
		"a menu": {fl.Round{Mechanism: tiers.Name, Epsilon: 2, Params: fl.Params{
			tiers.ParamBase: fl.Text(coco.Name), tiers.ParamMenu: fl.Text("1,2"), sparse.ParamSparsity: fl.Int(2)}}, "mechanism"},
		"merged messages": {fl.Round{Mechanism: hdsum.Name, Epsilon: 1, Delta: 1e-6}, "mechanism"},
		"another key":     {fl.Round{Mechanism: coco.Name, Epsilon: 1, Params: fl.Params{sparse.ParamSparsity: fl.Int(2)}, SealKey: []byte("key")}, "seal_key"},
	} {
		r := c.round
		r.ID, r.Dim, r.Scale, r.MinReports, r.PublicSeed, r.Shuffler = "r", 8, 1, 1000, [32]byte{1}, shufflerName
		if r.SealKey == nil {
			r.SealKey = key.Public()
		}
		policy := anything
		policy.TrustShuffler = true
		refused, err := client.New(dial(t, &liar{status: openStatus(t, r)}), client.Options{Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		_, err = refused.Join(t.Context(), "r")
		var param *fl.ParamError
		if !errors.As(err, &param) || param.Param != c.param {
			t.Errorf("%s: %v, want an error about %s", name, err, c.param)
		}
	}
}

// A report whose sealed bytes could not be kept does not leave.
func TestNothingLeavesThatWasNotKept(t *testing.T) {
	s, conn := openShuffler(t, func(*fl.Round) {})
	l := openLedger(t, 10)
	p := joinWith(t, conn, client.Options{Policy: anything, Ledger: l, Purpose: "digits"})
	report := encodeOne(t, p)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Submit(t.Context(), [][]byte{report}); err == nil || len(s.messages) != 0 {
		t.Errorf("%d messages left, %v", len(s.messages), err)
	}
}

// Without a ledger the participation remembers what it has sealed.
func TestWithoutALedgerTheSealedReportIsTheSame(t *testing.T) {
	a := admitOne(t)
	k, err := a.issuer.CreateKey(t.Context(), "sealed", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	s, conn := openShuffler(t, func(r *fl.Round) { r.IssuerKey, r.OuterIssuerKey = k.PublicKey, k.OuterPublicKey })
	p := joinWith(t, conn, client.Options{Policy: anything, Issuer: a.tokens})
	report := encodeOne(t, p)
	for n := range uint64(2) {
		if receipt, err := p.Submit(t.Context(), [][]byte{report}); err != nil || receipt != (client.Receipt{Accepted: 1 - n, Duplicates: n}) {
			t.Errorf("submission %d: %+v, %v", n, receipt, err)
		}
	}
	if len(s.items) != 1 {
		t.Errorf("%d different items", len(s.items))
	}
}

// One program is many clients, each with its own token: the issuer knows them by their connections.
func TestOneParticipationActsForManyClients(t *testing.T) {
	issuers := []*admission{admitOne(t), admitOne(t)}
	k, err := issuers[0].issuer.CreateKey(t.Context(), "sealed", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	s, conn := openShuffler(t, func(r *fl.Round) { r.IssuerKey, r.OuterIssuerKey = k.PublicKey, k.OuterPublicKey })
	p := joinWith(t, conn, client.Options{Policy: s.pinned(), Issuer: issuers[0].tokens})
	for n, issuer := range []grpc.ClientConnInterface{issuers[0].tokens, issuers[1].tokens} {
		other, err := p.As(issuer)
		if err != nil {
			t.Fatal(err)
		}
		central, _ := p.Central()
		if same, ok := other.Central(); !ok || same != central {
			t.Errorf("client %d: central guarantee %v, want %v", n, same, central)
		}
		// The second issuer does not know the key.
		if _, err := sendOne(t, other); (err == nil) != (n == 0) || n == 1 && status.Code(err) != codes.NotFound {
			t.Errorf("client %d: %v", n, err)
		}
	}
	// The first issuer takes all callers for the same client, who has a token by now.
	if _, err := sendOne(t, p); status.Code(err) != codes.AlreadyExists {
		t.Errorf("the client itself: %v", err)
	}
	if len(s.items) != 1 {
		t.Errorf("%d reports", len(s.items))
	}
	l := openLedger(t, 10)
	p = joinWith(t, conn, client.Options{Policy: anything, Issuer: issuers[0].tokens, Ledger: l, Purpose: "digits"})
	var param *fl.ParamError
	if _, err := p.As(issuers[1].tokens); !errors.As(err, &param) || param.Param != "Ledger" {
		t.Errorf("with a ledger: %v", err)
	}
}
