package server_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
)

// The operator names the round it means, also when one only is open.
func TestTheOperatorNamesTheRound(t *testing.T) {
	p := start(t, server.Config{})
	r := open(t, p, puppetRound("r", nil))
	if _, err := submit(t, p, request(t, r, 1, []byte("c"))); err != nil {
		t.Fatal(err)
	}
	_, estimate := p.operator.Estimate(t.Context(), "", false)
	for name, err := range map[string]error{"CloseRound": p.operator.CloseRound(t.Context(), ""), "GetEstimate": estimate} {
		wantField(t, name, errors.Unwrap(err), codes.InvalidArgument, "round_id")
		if err != nil && !strings.Contains(err.Error(), `round_id: got "", rule: is required`) {
			t.Errorf("%s: error %v does not name round_id", name, err)
		}
	}
}

// A report must fit into a message together with 1 KiB of other fields.
func TestReportsMustFitIntoAMessage(t *testing.T) {
	const limit = 64 << 10
	p := start(t, server.Config{Limits: server.Limits{MaxMessageBytes: limit}})
	sized := func(id string, n int) fl.Round { return puppetRound(id, fl.Params{"report_bytes": fl.Int(n)}) }
	open(t, p, sized("fits", limit-1024))
	for id, n := range map[string]int{"one-too-many": limit - 1023, "no-envelope": limit} {
		_, err := p.operator.OpenRound(t.Context(), sized(id, n))
		wantField(t, id, errors.Unwrap(err), codes.InvalidArgument, "round.dim")
	}
}

func TestOpenRoundRefuses(t *testing.T) {
	p := start(t, server.Config{MaxOpenRounds: 2, Limits: server.Limits{MaxMessageBytes: 64 << 10}})
	open(t, p, cocoRound("first"))
	for name, c := range map[string]struct {
		mutate func(*fl.Round)
		code   codes.Code
		field  string
	}{
		"taken id":           {func(r *fl.Round) { r.ID = "first" }, codes.AlreadyExists, "round.id"},
		"bad id":             {func(r *fl.Round) { r.ID = "a b" }, codes.InvalidArgument, "round.id"},
		"unknown mechanism":  {func(r *fl.Round) { r.Mechanism = "magic" }, codes.InvalidArgument, "round.mechanism"},
		"NaN epsilon":        {func(r *fl.Round) { r.Epsilon = math.NaN() }, codes.InvalidArgument, "round.epsilon"},
		"no scale":           {func(r *fl.Round) { r.Scale = 0 }, codes.InvalidArgument, "round.scale"},
		"zero dim":           {func(r *fl.Round) { r.Dim = 0 }, codes.InvalidArgument, "round.dim"},
		"no sparsity":        {func(r *fl.Round) { r.Params = nil }, codes.InvalidArgument, "round.sparsity"},
		"misspelt parameter": {func(r *fl.Round) { r.Params = r.Params.With("slotz", fl.Int(8)) }, codes.InvalidArgument, "round.params"},
		"few slots":          {func(r *fl.Round) { r.Params = r.Params.With("slots", fl.Int(6)) }, codes.InvalidArgument, "round.slots"},
		"past deadline":      {func(r *fl.Round) { r.Deadline = time.Now().Add(-time.Second) }, codes.InvalidArgument, "round.deadline"},
		"reports too large": {func(r *fl.Round) {
			r.Mechanism, r.Epsilon, r.Params, r.Dim = "none", math.Inf(1), nil, 1<<20
		}, codes.InvalidArgument, "round.dim"},
	} {
		r := cocoRound("new")
		c.mutate(&r)
		_, err := p.operator.OpenRound(t.Context(), r)
		wantField(t, name, errors.Unwrap(err), c.code, c.field)
		if err != nil && !strings.Contains(err.Error(), "rule: ") {
			t.Errorf("%s: error %q does not say the rule", name, err)
		}
	}
	open(t, p, cocoRound("second"))
	_, err := p.operator.OpenRound(t.Context(), cocoRound("third"))
	wantCode(t, "a third open round", err, codes.ResourceExhausted)
}

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

// A caller whose time is up is let go while the mechanism computes on. The next round waits
// for that, and then opens.
func TestOpenRoundHonoursItsDeadline(t *testing.T) {
	p := start(t, server.Config{Limits: server.Limits{MaxDim: 4_000_000}})
	slow := fl.Round{ID: "slow", Mechanism: "puppet", Dim: 2, Scale: 1, Epsilon: 1, MinReports: 1, Params: fl.Params{"waits": fl.Int(1)}}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := p.operator.OpenRound(ctx, slow)
		failed <- err
	}()
	<-server.PuppetOpens
	cancel()
	wantCode(t, "OpenRound", errors.Unwrap(<-failed), codes.Canceled)
	again, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	_, err := p.operator.OpenRound(again, cocoRound("second"))
	wantCode(t, "OpenRound while the mechanism computes on", errors.Unwrap(err), codes.DeadlineExceeded)
	server.PuppetOpens <- struct{}{}
	open(t, p, cocoRound("small"))
	if _, err := p.rounds.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "slow"}); status.Code(err) != codes.NotFound {
		t.Errorf("the round is there: %v", err)
	}
	large := cocoRound("large")
	large.Dim = 4_000_001
	_, err = p.operator.OpenRound(t.Context(), large)
	wantCode(t, "a dim beyond the limit", errors.Unwrap(err), codes.InvalidArgument)
}

// A report of a mechanism for two servers would show its gradient to this one.
func TestMechanismsForTwoServersNeedAShuffler(t *testing.T) {
	p := start(t, server.Config{})
	_, err := p.operator.OpenRound(t.Context(), fl.Round{
		ID: "r", Mechanism: hdsum.SharesName, Dim: 8, Scale: 1, Epsilon: 1, Delta: 1e-6, MinReports: 2000,
	})
	wantField(t, "OpenRound", errors.Unwrap(err), codes.InvalidArgument, "round.mechanism")
}

// The log of a round says against whom its ε holds.
func TestTheLogOfARoundHasItsGuarantee(t *testing.T) {
	logged := &bytes.Buffer{}
	p := start(t, server.Config{Seal: newKeys(t), Logger: slog.New(slog.NewTextHandler(logged, nil))})
	open(t, p, sharesRound("r"))
	if text := logged.String(); !strings.Contains(text, "against either server alone") || strings.Contains(text, " epsilon=") {
		t.Errorf("%s", text)
	}
}
