package client_test

import (
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/client"
	_ "github.com/hushgrad/hushgrad/tiers"
)

// A client of a round with a menu takes the weakest guarantee that its policy allows,
// encodes under it and charges it to its ledger.
func TestClientsChooseTheirTier(t *testing.T) {
	r, err := fl.Complete(fl.Round{
		ID: "r", Mechanism: "tiers", Dim: 20, Scale: 0.5, Epsilon: 8, MinReports: 3, PublicSeed: [32]byte{1},
		Params: fl.Params{"base": fl.Text("coco"), "menu": fl.Text("0.5,2,8"), "sparsity": fl.Int(4)},
	})
	if err != nil {
		t.Fatal(err)
	}
	status := &service.RoundStatus{Round: r.Proto(), State: service.RoundState_ROUND_STATE_OPEN}
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
