package client_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server/client"
)

// The central guarantee is the mechanism's bound at Round.MinReports reports. There is one only with
// both pins. Without it the local guarantee decides.
func TestCentralGuaranteesNeedPins(t *testing.T) {
	s, conn := openShuffler(t, func(*fl.Round) {})
	bound, err := s.mechanism.(fl.Amplifier).Shuffled().Epsilon(1000, 1e-6)
	if err != nil || !(bound < 0.9) {
		t.Fatal(bound, err)
	}
	want := fl.Guarantee{Trust: fl.Shuffle, Epsilon: bound, Delta: 1e-6, Relation: fl.ReplaceOne}
	for name, c := range map[string]struct {
		change  func(*fl.Policy)
		central bool
		param   string // "" for a round that meets the policy
	}{
		"pinned":                          {func(*fl.Policy) {}, true, ""},
		"pinned, and enough by itself":    {func(p *fl.Policy) { p.MaxEpsilon, p.Shuffled.MaxEpsilonLocal = 2, 0 }, true, ""},
		"exactly the bound":               {func(p *fl.Policy) { p.Shuffled.MaxEpsilon = bound }, true, ""},
		"less than the bound":             {func(p *fl.Policy) { p.Shuffled.MaxEpsilon = bound * (1 - 1e-12) }, true, "epsilon"},
		"less locally":                    {func(p *fl.Policy) { p.Shuffled.MaxEpsilonLocal = 1.9 }, true, "epsilon"},
		"another shuffler":                {func(p *fl.Policy) { p.Shuffled.Shufflers = []string{"other.example"} }, false, "shuffler"},
		"another key":                     {func(p *fl.Policy) { p.Shuffled.SealKeys = [][32]byte{{1}} }, false, "seal_key"},
		"another key, enough by itself":   {func(p *fl.Policy) { p.Shuffled.SealKeys, p.MaxEpsilon = nil, 2 }, false, ""},
		"no policy, and enough by itself": {func(p *fl.Policy) { p.Shuffled, p.MaxEpsilon = nil, 2 }, false, ""},
		"no policy":                       {func(p *fl.Policy) { p.Shuffled = nil }, false, "epsilon"},
	} {
		policy := s.pinned()
		c.change(&policy)
		l := openLedger(t, 10)
		cl, err := client.New(conn, client.Options{Policy: policy, Ledger: l, Purpose: "digits"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := cl.Join(t.Context(), "r")
		var param *fl.ParamError
		if c.param != "" || err != nil {
			if !errors.Is(err, fl.ErrPolicy) || !errors.As(err, &param) || param.Param != c.param {
				t.Errorf("%s: %v, want ErrPolicy naming %q", name, err, c.param)
			}
			continue
		}
		g, ok := p.Central()
		if ok != c.central || ok && g != want || p.Guarantee().Epsilon != 2 || p.Guarantee().Trust != fl.Local {
			t.Errorf("%s: %v and %v, %t, want %v, %t", name, p.Guarantee(), g, ok, want, c.central)
		}
		encodeOne(t, p)
		entries, err := l.Entries("digits")
		if err != nil || len(entries) != 1 || entries[0].Charge.Guarantee != p.Guarantee() || entries[0].Charge.Central != g {
			t.Errorf("%s: charged %+v, %v", name, entries, err)
		}
	}
}

// The lifetime budgets of a client bound what its shuffled reports cost, each its own.
func TestTheLedgerChargesBothGuarantees(t *testing.T) {
	s, conn := openShuffler(t, func(*fl.Round) {})
	l := openLedger(t, 10)
	if err := l.SetCentralBudget("digits", ledger.Budget{Epsilon: 0.01, Delta: 1e-5, Relation: fl.ReplaceOne}); err != nil {
		t.Fatal(err)
	}
	opts := client.Options{Policy: s.pinned(), Ledger: l, Purpose: "digits"}
	if _, err := joinWith(t, conn, opts).Encode(nil, make([]float64, 20), nil); !errors.Is(err, ledger.ErrBudget) {
		t.Errorf("beyond the central budget: %v", err)
	}
	if err := l.SetCentralBudget("digits", ledger.Budget{Epsilon: 1, Delta: 1e-5, Relation: fl.ReplaceOne}); err != nil {
		t.Fatal(err)
	}
	p := joinWith(t, conn, opts)
	encodeOne(t, p)
	central, _ := p.Central()
	local, err := l.Spent("digits")
	if err != nil || local.Epsilon != 2 {
		t.Errorf("spent %v, %v, want 2", local, err)
	}
	if spent, err := l.SpentCentral("digits"); err != nil || !(spent.Epsilon <= central.Epsilon && spent.Epsilon > 0.9*central.Epsilon) { // at a larger δ
		t.Errorf("spent %v centrally, %v, want a little less than %v", spent, err, central)
	}
	// A policy without pins counts the same report as a local one.
	other := openLedger(t, 10)
	if err := other.SetCentralBudget("digits", ledger.Budget{Epsilon: 1, Delta: 1e-5, Relation: fl.ReplaceOne}); err != nil {
		t.Fatal(err)
	}
	p = joinWith(t, conn, client.Options{Policy: anything, Ledger: other, Purpose: "digits"})
	if _, err := p.Encode(nil, make([]float64, 20), nil); !errors.Is(err, ledger.ErrBudget) {
		t.Errorf("a local ε of 2 in a central budget of 1: %v", err)
	}
}

// slow is a mechanism whose bound is counted.
type slow struct {
	fl.Mechanism
	calls *int
}

func (s slow) Shuffled() fl.Amplification { *s.calls++; return s.Mechanism.(fl.Amplifier).Shuffled() }
func (s slow) ReportBytes() int           { return s.Mechanism.(fl.ReportSizer).ReportBytes() }

// slowBounds counts the bounds that were asked for.
var slowBounds int

// slowly opens coco as slow.
type slowly struct{}

func (slowly) Open(r fl.Round) (fl.Mechanism, error) {
	r.Mechanism = "coco"
	m, err := fl.Open(r)
	return slow{m, &slowBounds}, err
}

func (slowly) Complete(r fl.Round) (fl.Round, error) {
	name := r.Mechanism
	r.Mechanism = "coco"
	r, _, err := fl.Complete(r)
	r.Mechanism = name
	return r, err
}

func init() { fl.Register("slow-bound", slowly{}) }

// A bound on shuffling takes a while. It is computed once for a round, however often it is joined.
func TestTheBoundIsComputedOnce(t *testing.T) {
	before := slowBounds
	s, conn := openShuffler(t, func(r *fl.Round) { r.Mechanism = "slow-bound" })
	c, err := client.New(conn, client.Options{Policy: s.pinned()})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, ok := joinRound(t, c, "r").Central(); !ok {
			t.Fatal("no central guarantee")
		}
	}
	if n := slowBounds - before; n != 1 {
		t.Errorf("the bound was computed %d times", n)
	}
}

// certified returns a TLS configuration for a server with a certificate for these names, and the
// pool that trusts it.
func certified(t *testing.T, names ...string) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: names, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, pool
}

// Over TLS the party at the other end is the shuffler that the round names, or the round is refused:
// a server cannot name a shuffler and take the reports itself.
func TestTheOtherEndIsTheShuffler(t *testing.T) {
	s, plain := openShuffler(t, func(*fl.Round) {})
	for name, c := range map[string]struct {
		names []string
		sound bool
	}{
		"the shuffler":             {[]string{shufflerName}, true},
		"the shuffler among names": {[]string{"server.example", shufflerName}, true},
		"the server":               {[]string{"server.example"}, false},
		"a part of the name":       {[]string{"server.example", "example"}, false},
	} {
		config, pool := certified(t, c.names...)
		g := grpc.NewServer(grpc.Creds(credentials.NewTLS(config)))
		service.RegisterRoundsServer(g, s)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = g.Serve(listener) }()
		t.Cleanup(g.Stop)
		conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool, ServerName: c.names[0]})))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, err = newClient(t, conn, client.Options{}).Join(t.Context(), "r")
		var param *fl.ParamError
		if c.sound && err != nil || !c.sound && (!errors.As(err, &param) || param.Param != "shuffler") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Without TLS it is the caller's word.
	joinRound(t, newClient(t, plain, client.Options{}), "r")
}
