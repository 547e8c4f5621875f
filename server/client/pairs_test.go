package client_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/baseline/dense"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server/client"
)

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
	status.Round.Mechanism, status.Round.Epsilon, status.Round.Params = dense.Name, math.Inf(1), nil
	anything := client.Options{Policy: fl.Policy{MaxEpsilon: math.Inf(1)}}
	part, err = newClient(t, dial(t, &liar{status: status}), anything).Join(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	var p *fl.ParamError
	if _, err := part.EncodeKeyValues(nil, pairs, rng()); !errors.As(err, &p) || p.Param != "mechanism" {
		t.Errorf("a mechanism for gradients only: %v", err)
	}
}
