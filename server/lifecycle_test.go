package server_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

func state(t testing.TB, p *peers, id string) service.RoundState {
	t.Helper()
	resp, err := p.rounds.GetRound(t.Context(), &service.GetRoundRequest{RoundId: id})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetStatus().GetState()
}

func TestBelowMinReportsTheRoundStaysOpen(t *testing.T) {
	p := start(t, server.Config{})
	open(t, p, cocoRound("r"))
	part := join(t, p, "r")
	reports := encode(t, part, 3)
	if _, err := part.Submit(t.Context(), reports[:2]); err != nil {
		t.Fatal(err)
	}
	wantField(t, "close with 2 of 3", errors.Unwrap(p.operator.CloseRound(t.Context(), "r")), codes.FailedPrecondition, "round_id")
	_, err := p.operator.Estimate(t.Context(), "r", false)
	wantField(t, "estimate of an open round", errors.Unwrap(err), codes.FailedPrecondition, "round_id")
	if got := state(t, p, "r"); got != service.RoundState_ROUND_STATE_OPEN {
		t.Errorf("state %v, want open", got)
	}
	if _, err := part.Submit(t.Context(), reports[2:]); err != nil {
		t.Fatalf("the third report: %v", err)
	}
	if err := p.operator.CloseRound(t.Context(), "r"); err != nil {
		t.Errorf("close with 3 of 3: %v", err)
	}
	if err := p.operator.CloseRound(t.Context(), "r"); err != nil {
		t.Errorf("a second close: %v", err)
	}
}

func TestTheTargetClosesTheRound(t *testing.T) {
	p := start(t, server.Config{})
	r := cocoRound("r")
	r.TargetReports = 4
	open(t, p, r)
	part := join(t, p, "r")
	waited := make(chan error, 1)
	go func() {
		e, err := p.operator.Estimate(context.Background(), "r", true)
		if err == nil && e.Reports != 6 {
			err = errors.New("wrong number of reports")
		}
		waited <- err
	}()
	// The batch that reaches the target is counted whole.
	for _, batch := range [][][]byte{encode(t, part, 3), encode(t, part, 3)} {
		if _, err := part.Submit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
	_, err := part.Submit(t.Context(), encode(t, part, 1))
	wantCode(t, "one more", errors.Unwrap(err), codes.FailedPrecondition)
}

func TestTheDeadlineClosesOrExpires(t *testing.T) {
	p := start(t, server.Config{})
	enough, few := cocoRound("enough"), cocoRound("few")
	deadline := time.Now().Add(300 * time.Millisecond)
	enough.Deadline, few.Deadline = deadline, deadline
	open(t, p, enough)
	open(t, p, few)
	for id, n := range map[string]int{"enough": 3, "few": 2} {
		part := join(t, p, id)
		if _, err := part.Submit(t.Context(), encode(t, part, n)); err != nil {
			t.Fatal(err)
		}
	}
	if e, err := p.operator.Estimate(t.Context(), "enough", true); err != nil || e.Reports != 3 {
		t.Errorf("enough reports at the deadline: %v", err)
	}
	_, err := p.operator.Estimate(t.Context(), "few", true)
	wantField(t, "too few at the deadline", errors.Unwrap(err), codes.FailedPrecondition, "round_id")
	if got := state(t, p, "few"); got != service.RoundState_ROUND_STATE_EXPIRED {
		t.Errorf("state %v, want expired", got)
	}
	wantCode(t, "close of an expired round", errors.Unwrap(p.operator.CloseRound(t.Context(), "few")), codes.FailedPrecondition)
}

func TestOldEstimatesAreForgottenButTheirIDsAreNot(t *testing.T) {
	p := start(t, server.Config{KeepRounds: 1})
	for _, id := range []string{"a", "b"} {
		open(t, p, cocoRound(id))
		part := join(t, p, id)
		if _, err := part.Submit(t.Context(), encode(t, part, 3)); err != nil {
			t.Fatal(err)
		}
		if err := p.operator.CloseRound(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	// Forgetting happens right after the close that made it necessary.
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := p.operator.Estimate(t.Context(), "a", false); err != nil {
			wantCode(t, "a forgotten estimate", errors.Unwrap(err), codes.NotFound)
			break
		}
		if time.Now().After(end) {
			t.Fatal("the estimate of a is still there")
		}
	}
	if _, err := p.operator.Estimate(t.Context(), "b", false); err != nil {
		t.Errorf("the newest estimate: %v", err)
	}
	_, err := p.operator.OpenRound(t.Context(), cocoRound("a"))
	wantCode(t, "a used id", errors.Unwrap(err), codes.AlreadyExists)
	_, err = p.client.Join(t.Context(), "")
	wantCode(t, "no open round", errors.Unwrap(err), codes.NotFound)
	_, err = p.client.Join(t.Context(), "b")
	if err == nil {
		t.Error("joined a closed round")
	}
}

func TestHealthAndReflection(t *testing.T) {
	p := start(t, server.Config{})
	resp, err := healthpb.NewHealthClient(p.conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || resp.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", resp, err)
	}
	stream, err := reflectionpb.NewServerReflectionClient(p.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{},
	}); err != nil {
		t.Fatal(err)
	}
	list, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, s := range list.GetListServicesResponse().GetService() {
		names[s.GetName()] = true
	}
	if !names["hushgrad.v1.Rounds"] || !names["hushgrad.v1.Operator"] {
		t.Errorf("reflection lists %v", names)
	}
	if err := stream.CloseSend(); err != nil {
		t.Error(err)
	}
}

func TestConfigRefuses(t *testing.T) {
	for _, cfg := range []server.Config{
		{MaxMessageBytes: 1000}, {MaxMessageBytes: 2 << 30}, {MaxModelBytes: -1}, {MaxOpenRounds: -1}, {KeepRounds: -1}, {ShutdownTimeout: -1},
	} {
		_, err := server.New(cfg)
		var p *fl.ParamError
		if !errors.As(err, &p) {
			t.Errorf("New(%+v): error %v, want a ParamError", cfg, err)
		}
	}
	for _, opts := range []client.Options{{Attempts: -1}, {BatchBytes: 2 << 20}, {BatchBytes: -5}} {
		if _, err := client.New(nil, opts); err == nil {
			t.Errorf("client.New(%+v): want an error", opts)
		}
	}
}
