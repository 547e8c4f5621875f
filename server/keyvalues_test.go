package server_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/fl"
	_ "github.com/hushgrad/hushgrad/keyvalue/pckv"
	_ "github.com/hushgrad/hushgrad/keyvalue/succinct"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server"
)

// chunkKeys is the number of keys in one message: five numbers each in 1 MiB.
const chunkKeys = 1 << 20 / 40

// keyValueRounds are rounds of pairs whose estimates take one message, several, or
// several with the columns of one kind only.
func keyValueRounds() []fl.Round {
	base := fl.Round{Scale: 1, Epsilon: 2, MinReports: 5}
	coco, pckv, succinct := base, base, base
	coco.ID, coco.Mechanism, coco.Dim, coco.Params = "coco", "coco", 3*chunkKeys, fl.Params{"sparsity": fl.Int(4)}
	pckv.ID, pckv.Mechanism, pckv.Dim, pckv.Params = "pckv", "pckv-ue", chunkKeys+1, fl.Params{"padding": fl.Int(4)}
	succinct.ID, succinct.Mechanism, succinct.Dim, succinct.Params = "succinct", "succinct", 2*chunkKeys-1, fl.Params{"sparsity": fl.Int(4)}
	small := pckv
	small.ID, small.Dim = "small", 30
	return []fl.Round{coco, pckv, succinct, small}
}

// encodePairs returns n reports of clients with three pairs each.
func encodePairs(t testing.TB, r fl.Round, m fl.Mechanism, n int) [][]byte {
	t.Helper()
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	reports := make([][]byte, n)
	for i := range reports {
		pairs := []fl.KeyValue{{Key: 0, Value: 1}, {Key: uint32(1 + i), Value: -0.5}, {Key: uint32(r.Dim - 1), Value: 0}}
		var err error
		if reports[i], err = m.(fl.KeyValueMechanism).EncodeKeyValues(nil, pairs, rng); err != nil {
			t.Fatal(err)
		}
	}
	return reports
}

// What the operator reads over gRPC is what an aggregator beside the clients says.
func TestKeyValuesAreThoseOfALocalAggregator(t *testing.T) {
	p := start(t, server.Config{})
	for _, r := range keyValueRounds() {
		r = open(t, p, r)
		part := join(t, p, r.ID)
		reports := encodePairs(t, r, part.Mechanism(), 12)
		if _, err := part.Submit(t.Context(), reports); err != nil {
			t.Fatal(err)
		}
		if err := p.operator.CloseRound(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
		agg := part.Mechanism().NewAggregator()
		if err := fl.AddBatch(part.Mechanism(), agg, reports); err != nil {
			t.Fatal(err)
		}
		want, err := agg.(fl.KeyValueAggregator).KeyValues()
		if err != nil {
			t.Fatal(err)
		}
		// Several operators at once share one decoding.
		var group errgroup.Group
		for range 3 {
			group.Go(func() error {
				got, err := p.operator.KeyValues(context.Background(), r.ID, false)
				if err == nil && !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %d keys of %d reports by %s under %v differ from those of the local aggregator",
						r.ID, len(got.Mean.Value), got.Reports, got.Mechanism, got.Guarantee)
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Errorf("%s: %v", r.ID, err)
		}
		if mean, err := p.operator.Estimate(t.Context(), r.ID, false); err != nil || mean.Reports != 12 {
			t.Errorf("%s: the mean beside it: %v", r.ID, err)
		}
	}
}

func TestKeyValuesWait(t *testing.T) {
	p := start(t, server.Config{})
	r := keyValueRounds()[3]
	r.TargetReports = 5
	r = open(t, p, r)
	part := join(t, p, r.ID)
	_, err := p.operator.KeyValues(t.Context(), r.ID, false)
	wantField(t, "an open round", errors.Unwrap(err), codes.FailedPrecondition, "round_id")
	waited := make(chan error, 1)
	go func() {
		e, err := p.operator.KeyValues(context.Background(), r.ID, true)
		if err == nil && e.Reports != 5 {
			err = errors.New("wrong number of reports")
		}
		waited <- err
	}()
	if _, err := part.Submit(t.Context(), encodePairs(t, r, part.Mechanism(), 5)); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

// Rounds without a key-value estimate say so, and keep their mean.
func TestKeyValuesOfOtherRounds(t *testing.T) {
	p := start(t, server.Config{})
	_, err := p.operator.KeyValues(t.Context(), "", false)
	wantField(t, "no id", errors.Unwrap(err), codes.InvalidArgument, "round_id")
	_, err = p.operator.KeyValues(t.Context(), "nowhere", true)
	wantField(t, "unknown round", errors.Unwrap(err), codes.NotFound, "round_id")

	dense, few := cocoRound("dense"), cocoRound("few-slots")
	dense.Mechanism, dense.Params, dense.Epsilon = "none", nil, math.Inf(1)
	few.Params = few.Params.With("slots", fl.Int(8)) // 2·sparsity: the mean only
	for name, c := range map[string]struct {
		round       fl.Round
		field, says string
	}{
		"mechanism":  {dense, "round_id", `"none"`},
		"parameters": {few, "round_id.slots", "coco: support: slots: got 8"},
	} {
		open(t, p, c.round)
		part := join(t, p, c.round.ID)
		if _, err := part.Submit(t.Context(), encode(t, part, 3)); err != nil {
			t.Fatal(err)
		}
		if err := p.operator.CloseRound(t.Context(), c.round.ID); err != nil {
			t.Fatal(err)
		}
		_, err := p.operator.KeyValues(t.Context(), c.round.ID, false)
		wantField(t, name, errors.Unwrap(err), codes.InvalidArgument, c.field)
		if err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %q does not say %s", name, err, c.says)
		}
		if _, err := p.operator.Estimate(t.Context(), c.round.ID, false); err != nil {
			t.Errorf("%s: the mean: %v", name, err)
		}
	}
}

// A panic while pairs are decoded is the caller's internal error every time; the mean
// and the server live on.
func TestAPanicInKeyValues(t *testing.T) {
	p := start(t, server.Config{})
	for id, panics := range map[string]bool{"well": false, "ill": true} {
		var params fl.Params
		if panics {
			params = fl.Params{"panics": fl.Text("keyvalues")}
		}
		r := open(t, p, puppetRound(id, params))
		if _, err := submit(t, p, request(t, r, 1, []byte("c"))); err != nil {
			t.Fatal(err)
		}
		if err := p.operator.CloseRound(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			e, err := p.operator.KeyValues(t.Context(), id, false)
			if panics {
				wantInternal(t, "KeyValues", err)
			} else if err != nil || e.Frequency.Value != nil || e.Mean.Value != nil || e.Conditional[0] != 1 {
				t.Errorf("decoded once, conditional means alone: %+v, %v", e, err)
			}
		}
		if _, err := p.operator.Estimate(t.Context(), id, false); err != nil {
			t.Errorf("%s: the mean: %v", id, err)
		}
	}
}

// Messages stay near 1 MiB, also with all columns: below the 4 MiB that gRPC clients
// take by default.
func TestKeyValuesComeInSmallMessages(t *testing.T) {
	p := start(t, server.Config{})
	r := open(t, p, keyValueRounds()[1])
	part := join(t, p, r.ID)
	if _, err := part.Submit(t.Context(), encodePairs(t, r, part.Mechanism(), 5)); err != nil {
		t.Fatal(err)
	}
	if err := p.operator.CloseRound(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	stream, err := service.NewOperatorClient(p.conn).GetKeyValues(t.Context(), &service.GetKeyValuesRequest{RoundId: r.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{chunkKeys, 1} {
		msg, err := stream.Recv()
		if err != nil || len(msg.GetFrequency()) != want {
			t.Fatalf("a message of %d keys, %v, want %d", len(msg.GetFrequency()), err, want)
		}
		if first := want == chunkKeys; (msg.GetHeader() != nil) != first {
			t.Errorf("header %v in the message of %d keys", msg.GetHeader(), want)
		}
	}
}
