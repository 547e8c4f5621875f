package client_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server/client"
	_ "github.com/hushgrad/hushgrad/tiers"
)

// A field that this version does not know.
var unknown = protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 1)

func TestJoinRefusesWhatItDidNotAskFor(t *testing.T) {
	for name, c := range map[string]struct {
		id    string
		lie   func(*service.RoundStatus)
		param string // "" for a round that may be joined
	}{
		"the truth":           {"r", func(*service.RoundStatus) {}, ""},
		"whichever is newest": {"", func(*service.RoundStatus) {}, ""},
		"another round":       {"s", func(*service.RoundStatus) {}, "id"},
		"closed":              {"r", func(s *service.RoundStatus) { s.State = service.RoundState_ROUND_STATE_CLOSED }, "state"},
		"expired":             {"r", func(s *service.RoundStatus) { s.State = service.RoundState_ROUND_STATE_EXPIRED }, "state"},
		"no state":            {"r", func(s *service.RoundStatus) { s.State = 0 }, "state"},
		"no round":            {"r", func(s *service.RoundStatus) { s.Round = nil }, "round"},
		"unknown field":       {"r", func(s *service.RoundStatus) { s.GetRound().ProtoReflect().SetUnknown(unknown) }, "round"},
		"invalid round":       {"r", func(s *service.RoundStatus) { s.Round.Epsilon = -1 }, "epsilon"},
	} {
		l := &liar{status: openRound(t)}
		c.lie(l.status)
		_, err := newClient(t, dial(t, l), client.Options{}).Join(t.Context(), c.id)
		var bad *fl.ParamError
		switch {
		case c.param == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.param != "" && (!errors.As(err, &bad) || bad.Param != c.param):
			t.Errorf("%s: error %v, want one about %s", name, err, c.param)
		}
	}
}

// Key-value pairs are charged like gradients and encoded by the round's mechanism.
func TestPairsAreCharged(t *testing.T) {
	l := openLedger(t, 2)
	server := &liar{status: openRound(t)}
	part, err := newClient(t, dial(t, server), client.Options{Ledger: l, Purpose: "digits"}).Join(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	rng := func() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{7})) }
	if _, err := part.EncodeKeyValues(nil, []fl.KeyValue{{Key: 20, Value: 1}}, rng()); err == nil {
		t.Error("a key beyond the dimension was encoded")
	}
	pairs := []fl.KeyValue{{Key: 3, Value: 1}, {Key: 9, Value: -0.5}}
	report, err := part.EncodeKeyValues(nil, pairs, rng())
	if err != nil {
		t.Fatal(err)
	}
	want, err := part.Mechanism().(fl.KeyValueMechanism).EncodeKeyValues(nil, pairs, rng())
	if err != nil || !bytes.Equal(report, want) {
		t.Errorf("report % x, want % x, %v", report, want, err)
	}
	if got := states(t, l); !equal(got, ledger.Released, ledger.Reserved) {
		t.Errorf("after encoding the entries are %v", got)
	}
	if _, err := part.EncodeKeyValues(nil, pairs, rng()); !errors.Is(err, ledger.ErrDuplicate) {
		t.Errorf("a second report for the round: %v, want ErrDuplicate", err)
	}
	if _, err := part.Submit(t.Context(), [][]byte{report}); err != nil {
		t.Error(err)
	}

	status := openRound(t)
	status.Round.Mechanism, status.Round.Epsilon, status.Round.Params = baseline.None, math.Inf(1), nil
	part, err = newClient(t, dial(t, &liar{status: status}), client.Options{}).Join(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	var p *fl.ParamError
	if _, err := part.EncodeKeyValues(nil, pairs, rng()); !errors.As(err, &p) || p.Param != "mechanism" {
		t.Errorf("a mechanism for gradients only: %v", err)
	}
}

// A client of a round with a menu takes the weakest guarantee that its policy allows,
// encodes under it and charges it to its ledger.
func TestClientsChooseTheirTier(t *testing.T) {
	status := openTiers(t)
	for limit, want := range map[float64]struct {
		tier    byte
		epsilon float64
	}{0.5: {0, 0.5}, 1.9: {0, 0.5}, 3: {1, 2}, 20: {2, 8}} {
		l := openLedger(t, 100)
		c, err := client.New(dial(t, &liar{status: status}), client.Options{Policy: fl.Policy{MaxEpsilon: limit}, Ledger: l, Purpose: "digits"})
		if err != nil {
			t.Fatal(err)
		}
		part, err := c.Join(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		report, err := part.Encode(nil, make([]float64, 20), nil)
		if err != nil || report[0] != want.tier || part.Guarantee().Epsilon != want.epsilon {
			t.Errorf("policy of ε = %g: tier %d under %v, %v, want %+v", limit, report[0], part.Guarantee(), err, want)
		}
		entries, err := l.Entries("digits")
		if err != nil || len(entries) != 1 || entries[0].Charge.Guarantee.Epsilon != want.epsilon {
			t.Errorf("policy of ε = %g: charged %+v, %v", limit, entries, err)
		}
	}
	c, err := client.New(dial(t, &liar{status: status}), client.Options{Policy: fl.Policy{MaxEpsilon: 0.4}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Join(t.Context(), "r"); !errors.Is(err, fl.ErrPolicy) {
		t.Errorf("a menu beyond the policy: %v, want ErrPolicy", err)
	}
}

// A client does not build the mechanism of a round that is larger than its policy allows: it
// would take 2 GB.
func TestClientsDoNotBuildWhatTheyRefuse(t *testing.T) {
	status := openRound(t)
	status.Round.Dim = fl.MaxDim
	c := newClient(t, dial(t, &liar{status: status}), client.Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := c.Join(t.Context(), "r")
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, fl.ErrPolicy) || allocated > 32<<20 {
		t.Errorf("%d bytes allocated, %v", allocated, err)
	}
}

// A report of a mechanism for two servers would show its gradient to one of them.
func TestClientsSendNoWholeReportOfTwoServers(t *testing.T) {
	status := openStatus(t, fl.Round{
		ID: "r", Mechanism: hdsum.SharesName, Dim: 8, Scale: 1, Epsilon: 1, Delta: 1e-6, MinReports: 2000, PublicSeed: [32]byte{1},
	})
	policy := fl.Policy{MaxEpsilon: 1, MaxDelta: 1e-6, Mechanisms: []string{hdsum.SharesName}, Relation: fl.ZeroOut}
	c, err := client.New(dial(t, &liar{status: status}), client.Options{Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	var param *fl.ParamError
	if _, err := c.Join(t.Context(), "r"); !errors.As(err, &param) || param.Param != "shuffler" {
		t.Errorf("Join: %v", err)
	}
}
