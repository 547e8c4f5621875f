package server_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	_ "github.com/hushgrad/hushgrad/keyvalue"
	"github.com/hushgrad/hushgrad/server"
	_ "github.com/hushgrad/hushgrad/signsketch"
)

// chunk is the number of coordinates in one message of an estimate with n columns:
// two numbers for each in 1 MiB.
func chunk(n int) int { return 1 << 20 / (16 * n) }

// columnRounds are rounds of key-value pairs whose estimates take exactly three messages
// with three columns, two messages with five, two with the mean alone, or one.
func columnRounds() []fl.Round {
	base := fl.Round{Scale: 0.5, Epsilon: 2, MinReports: 5}
	coco, pckv := base, base
	coco.ID, coco.Mechanism, coco.Params = "coco", "coco", fl.Params{"sparsity": fl.Int(4)}
	coco.Dim, coco.Columns = 3*chunk(3), []string{fl.ColumnFrequency, fl.ColumnConditional}
	every := coco
	every.ID, every.Dim, every.Columns = "every", chunk(5)+1, fl.Columns("coco")
	pckv.ID, pckv.Mechanism, pckv.Params = "pckv", "pckv-ue", fl.Params{"padding": fl.Int(4)}
	pckv.Dim, pckv.Columns = 2*chunk(3)-1, []string{fl.ColumnConditional, fl.ColumnFrequency}
	alone := coco
	alone.ID, alone.Dim, alone.Columns = "alone", 2*chunk(1)-1, nil
	small := pckv
	small.ID, small.Dim = "small", 30
	return []fl.Round{coco, every, pckv, alone, small}
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

// What the operator reads over gRPC is what an aggregator beside the clients estimates, in
// every column. In one round clients lie: 300 reports are one report, whose slot has coordinates of all messages.
func TestEstimatesAreThoseOfALocalAggregator(t *testing.T) {
	p := start(t, server.Config{})
	for _, r := range columnRounds() {
		r = open(t, p, r)
		part := join(t, p, r.ID)
		reports := encodePairs(t, r, part.Mechanism(), 12)
		if r.ID == "coco" {
			reports = append(reports, slices.Repeat(reports[:1], 300)...)
		}
		if _, err := part.Submit(t.Context(), reports); err != nil {
			t.Fatal(err)
		}
		if err := p.operator.CloseRound(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
		want := estimateOf(t, part.Mechanism(), reports)
		if n := len(want.Suspects); (n > 0) != (r.ID == "coco") || n > 0 && (want.Suspects[0] >= chunk(3) || want.Suspects[n-1] < 2*chunk(3)) {
			t.Errorf("%s: %d suspects, want some in the first and in the last message of the round with liars", r.ID, n)
		}
		if len(want.Columns) != 1+len(r.Columns) {
			t.Fatalf("%s: %d columns beside the mean, the round asks for %v", r.ID, len(want.Columns)-1, r.Columns)
		}
		var group errgroup.Group // several operators at once
		for range 3 {
			group.Go(func() error {
				got, err := p.operator.Estimate(context.Background(), r.ID, false)
				if err == nil && !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %d columns of %d reports by %s under %v differ from the local aggregator's",
						r.ID, len(got.Columns), got.Reports, got.Mechanism, got.Guarantee)
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Errorf("%s: %v", r.ID, err)
		}
	}
}

func TestEstimatesWait(t *testing.T) {
	p := start(t, server.Config{})
	r := columnRounds()[4]
	r.TargetReports = 5
	r = open(t, p, r)
	part := join(t, p, r.ID)
	_, err := p.operator.Estimate(t.Context(), r.ID, false)
	wantField(t, "an open round", errors.Unwrap(err), codes.FailedPrecondition, "round_id")
	waited := make(chan error, 1)
	go func() {
		e, err := p.operator.Estimate(context.Background(), r.ID, true)
		if err == nil && (e.Reports != 5 || len(e.Columns) != 3) {
			err = errors.New("wrong number of reports or columns")
		}
		waited <- err
	}()
	if _, err := part.Submit(t.Context(), encodePairs(t, r, part.Mechanism(), 5)); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
	_, err = p.operator.Estimate(t.Context(), "nowhere", true)
	wantField(t, "unknown round", errors.Unwrap(err), codes.NotFound, "round_id")
}

// A round that asks for what its mechanism or its parameters cannot estimate is not
// opened. Without those columns it is, and has its mean.
func TestColumnsThatCannotBeEstimated(t *testing.T) {
	p := start(t, server.Config{})
	dense, sketch, few := cocoRound("dense"), cocoRound("sketch"), cocoRound("few-slots")
	dense.Mechanism, dense.Params, dense.Epsilon = "none", nil, math.Inf(1)
	sketch.Mechanism = "signsketch"
	few.Params = few.Params.With("slots", fl.Int(8)) // 2·sparsity: the mean only
	for name, c := range map[string]struct {
		round       fl.Round
		field, says string
	}{
		"mechanism":         {dense, "round.columns", `columns: got "frequency", rule: must be among what "none" estimates beside the mean: nothing`},
		"another mechanism": {sketch, "round.columns", `columns: got "frequency", rule: must be among what "signsketch" estimates beside the mean: nothing`},
		"parameters":        {few, "round.slots", "slots: got 8, rule: must be above 2·sparsity = 8"},
	} {
		asking := c.round
		asking.Columns = []string{fl.ColumnFrequency}
		_, err := p.operator.OpenRound(t.Context(), asking)
		wantField(t, name, errors.Unwrap(err), codes.InvalidArgument, c.field)
		if err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %q does not say %s", name, err, c.says)
		}

		open(t, p, c.round)
		part := join(t, p, c.round.ID)
		if _, err := part.Submit(t.Context(), encode(t, part, 3)); err != nil {
			t.Fatal(err)
		}
		if err := p.operator.CloseRound(t.Context(), c.round.ID); err != nil {
			t.Fatal(err)
		}
		if e, err := p.operator.Estimate(t.Context(), c.round.ID, false); err != nil || len(e.Columns) != 1 {
			t.Errorf("%s: the mean: %+v, %v", name, e, err)
		}
	}
	for name, columns := range map[string][]string{
		"the mean": {fl.ColumnMean}, "twice": {fl.ColumnPlus, fl.ColumnPlus}, "unknown": {"median"}, "a name": {"Plus"},
	} {
		r := cocoRound("new")
		r.Columns = columns
		_, err := p.operator.OpenRound(t.Context(), r)
		wantField(t, name, errors.Unwrap(err), codes.InvalidArgument, "round.columns")
	}
}

// An estimate with other columns than the round's is the mechanism's fault: an internal
// error that says nothing, every time, and the server lives on.
func TestAMechanismThatReturnsOtherColumns(t *testing.T) {
	p := start(t, server.Config{})
	for _, returns := range slices.Sorted(maps.Keys(server.PuppetEstimates)) {
		r := puppetRound(strings.ReplaceAll(returns, " ", "-"), fl.Params{"returns": fl.Text(returns)})
		r.Dim, r.Columns = 3, []string{fl.ColumnPlus}
		r = open(t, p, r)
		if _, err := submit(t, p, request(t, r, 1, []byte("c"))); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			wantInternal(t, returns+": CloseRound", p.operator.CloseRound(t.Context(), r.ID))
			_, err := p.operator.Estimate(t.Context(), r.ID, true)
			wantInternal(t, returns+": GetEstimate", err)
		}
		if got := state(t, p, r.ID); got != service.RoundState_ROUND_STATE_FAILED {
			t.Errorf("%s: state %v, want FAILED: one without an estimate", returns, got)
		}
	}
}

// An estimate is decoded once, when the round closes, however often it is read.
func TestEstimatesAreDecodedOnce(t *testing.T) {
	p := start(t, server.Config{})
	r := puppetRound("r", nil)
	r.Columns = []string{fl.ColumnPlus, fl.ColumnFrequency}
	r = open(t, p, r)
	if _, err := submit(t, p, request(t, r, 1, []byte("c"))); err != nil {
		t.Fatal(err)
	}
	if err := p.operator.CloseRound(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		e, err := p.operator.Estimate(t.Context(), r.ID, false)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{fl.ColumnMean, fl.ColumnPlus, fl.ColumnFrequency} {
			if e.Columns[i].Name != name || e.Columns[i].Value[0] != 1 {
				t.Errorf("column %d: %+v, want %s of the first decoding", i, e.Columns[i], name)
			}
		}
	}
}

// Messages stay near 1 MiB, also with all columns: below the 4 MiB that gRPC clients
// take by default.
func TestEstimatesComeInSmallMessages(t *testing.T) {
	p := start(t, server.Config{})
	r := open(t, p, columnRounds()[1])
	part := join(t, p, r.ID)
	if _, err := part.Submit(t.Context(), encodePairs(t, r, part.Mechanism(), 5)); err != nil {
		t.Fatal(err)
	}
	if err := p.operator.CloseRound(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	stream, err := service.NewOperatorClient(p.conn).GetEstimate(t.Context(), &service.GetEstimateRequest{RoundId: r.ID})
	if err != nil {
		t.Fatal(err)
	}
	offset := 0
	for _, want := range []int{chunk(5), 1} {
		msg, err := stream.Recv()
		if err != nil || len(msg.GetColumns()) != 5 || int(msg.GetOffset()) != offset {
			t.Fatalf("a message of %d columns at %d, %v, want 5 at %d", len(msg.GetColumns()), msg.GetOffset(), err, offset)
		}
		if size := proto.Size(msg); size > 1<<20+1<<10 {
			t.Errorf("a message of %d bytes", size)
		}
		for i, c := range msg.GetColumns() {
			errs := want
			if r.Columns[max(i-1, 0)] == fl.ColumnConditional {
				errs = 0
			}
			if len(c.GetValue()) != want || len(c.GetStdErr()) != errs {
				t.Errorf("column %d: %d values and %d errors, want %d and %d", i, len(c.GetValue()), len(c.GetStdErr()), want, errs)
			}
		}
		if first := want == chunk(5); (msg.GetHeader() != nil) != first {
			t.Errorf("header %v in the message of %d coordinates", msg.GetHeader(), want)
		}
		offset += want
	}
}
