package server_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal"
)

// The operator's request reaches the shuffler, also after a restart, and is answered when the
// round has ended.
func TestClosingAsksTheShuffler(t *testing.T) {
	cfg := server.Config{Journal: journal.NewMemory(), Seal: newKeys(t)}
	p := start(t, cfg)
	description := shuffled(cocoRound("r"))
	description.TargetReports = 3
	r := open(t, p, description)
	all := sealed(t, r, made(t, r, 5)...)
	forwardGood(t, p, r, all[:4]...)
	status := func() *service.RoundStatus {
		resp, err := p.rounds.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"})
		if err != nil {
			t.Fatal(err)
		}
		return resp.GetStatus()
	}
	if s := status(); s.GetClosing() || s.GetState() != service.RoundState_ROUND_STATE_OPEN {
		t.Fatalf("with the target reached: %v, want the round open", s)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantCode(t, "CloseRound", errors.Unwrap(p.operator.CloseRound(ctx, "r")), codes.DeadlineExceeded)
	if !status().GetClosing() {
		t.Error("the shuffler is not asked")
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	p = start(t, cfg)
	if s := status(); !s.GetClosing() || s.GetState() != service.RoundState_ROUND_STATE_OPEN {
		t.Errorf("after a restart: %v", s)
	}
	closed := make(chan error, 1)
	go func() { closed <- p.operator.CloseRound(context.Background(), "r") }()
	forwardGood(t, p, r, all...)
	if err := complete(t, p, r, nil); err != nil {
		t.Fatal(err)
	}
	if err := <-closed; err != nil {
		t.Errorf("CloseRound: %v", err)
	}
	if s := status(); s.GetClosing() || s.GetState() != service.RoundState_ROUND_STATE_CLOSED {
		t.Errorf("after the end: %v", s)
	}
	if e, err := p.operator.Estimate(t.Context(), "r", false); err != nil || e.Reports != 5 {
		t.Errorf("%+v, %v, want 5 reports", e, err)
	}
}

// With too few reports that count there is no estimate, and that is not the shuffler's fault.
func TestACompletedRoundWithTooFewReportsExpires(t *testing.T) {
	cfg := server.Config{Journal: journal.NewMemory(), Seal: newKeys(t)}
	p := start(t, cfg)
	r, aborted := open(t, p, shuffled(cocoRound("r"))), open(t, p, shuffled(cocoRound("aborted")))
	all := sealed(t, r, append(made(t, r, 2), bytes.Repeat([]byte{0xFF}, len(made(t, r, 1)[0])))...)
	if rejected, err := forward(t, p, r, all...); err != nil || !slices.Equal(rejected, []uint32{2}) {
		t.Errorf("%v, %v", rejected, err)
	}
	if err := p.operator.AbortRound(t.Context(), "aborted"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for range 2 {
			if err := complete(t, p, r, nil); err != nil {
				t.Errorf("CompleteRound: %v", err)
			}
			wantField(t, "completing an aborted round", complete(t, p, aborted, nil), codes.FailedPrecondition, "round_id")
		}
		if s := state(t, p, "r"); s != service.RoundState_ROUND_STATE_EXPIRED {
			t.Errorf("the round is %v", s)
		}
		wantCode(t, "CloseRound", errors.Unwrap(p.operator.CloseRound(t.Context(), "r")), codes.FailedPrecondition)
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		p = start(t, cfg)
	}
}
