package shuffler

import (
	"os"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
)

// again stops a shuffler and starts another one on what it has kept.
func (p *party) again(t *testing.T) *party {
	t.Helper()
	p.Shuffler.Close()
	return start(t, p.cfg, p.server)
}

// A restart forgets no report and no copy.
func TestARestartForgetsNothing(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{Secrets: t.TempDir()}, server)
	r := newSealedRound(t, func(r *fl.Round) { r.TargetReports = 6 })
	server.open(r.Round)
	items := r.items(t, 6)
	p.keeps(t, r, 3, 0, items[:3]...)
	p = p.again(t)
	p.keeps(t, r, 2, 3, items[:5]...)
	p = p.again(t)
	p.keeps(t, r, 1, 0, items[5])
	p.gone(t, "r", forwarded)
	sealed, _ := server.got()
	sameReports(t, r, sealed, items)
	p = p.again(t)
	p.refuses(t, "after the end", codes.FailedPrecondition, r, items[0])
}

// The decision to forward survives a restart: nothing new is accepted, a copy is still one, and
// what left before leaves again.
func TestTheDecisionIsFinal(t *testing.T) {
	server := newRecorder()
	server.refuse = func(call int) error {
		if call > 2 {
			return status.Error(codes.Unavailable, "away")
		}
		return nil
	}
	p := start(t, Config{Secrets: t.TempDir(), ForwardBytes: 1}, server) // a report in each message
	r := newSealedRound(t, nil)
	server.open(r.Round)
	items := r.items(t, 7)
	p.keeps(t, r, 6, 0, items[:6]...)
	server.close("r")
	eventually(t, "the decision", func() bool { return server.callsNow() > 2 })
	server.with(func() { server.status["r"].Closing = false }) // there is no reason any more to decide so
	for range 2 {
		p.refuses(t, "a new report", codes.FailedPrecondition, r, items[6])
		p.refuses(t, "a new report and a copy", codes.FailedPrecondition, r, items[0], items[6])
		p.keeps(t, r, 0, 2, items[0], items[5])
		p = p.again(t)
	}
	server.with(func() { server.refuse = nil })
	p.gone(t, "r", forwarded)
	sealed, complete := server.got()
	sameReports(t, r, sealed, items[:6])
	if !complete {
		t.Error("the round was not completed")
	}
}

// Whatever the server answers on the way, it gets everything in the end, and what it refused is in the metrics.
func TestForwardingStartsOverUntilItIsDone(t *testing.T) {
	for _, code := range []codes.Code{codes.Unavailable, codes.ResourceExhausted, codes.Internal, codes.PermissionDenied, codes.FailedPrecondition, codes.InvalidArgument, codes.Unimplemented} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			server, figures := newRecorder(), prometheus.NewRegistry()
			server.refuse = func(call int) error {
				if call == 2 || call == 5 {
					return status.Error(code, "test")
				}
				return nil
			}
			p := start(t, Config{ForwardBytes: 150, Metrics: figures}, server) // two reports in each message
			r := newSealedRound(t, func(r *fl.Round) { r.TargetReports = 9 })
			server.open(r.Round)
			items := r.items(t, 9)
			p.keeps(t, r, 9, 0, items...)
			p.gone(t, "r", forwarded)
			sealed, _ := server.got()
			sameReports(t, r, sealed, items)
			if slices.Contains(figuresOf(t, figures), "hushgrad_shuffler_failed_forwards_total 0") {
				t.Error("the metrics do not count the refused calls")
			}
		})
	}
}

// A round whose secret is gone takes no reports, keeps what it has in case the secret comes back,
// and ends with the round.
func TestALostSecretLosesNoOtherRound(t *testing.T) {
	t.Parallel() // it mostly waits
	server := newRecorder()
	p := start(t, Config{Secrets: t.TempDir()}, server)
	lost := newSealedRound(t, nil)
	good := newSealedRound(t, func(r *fl.Round) { r.ID, r.TargetReports = "good", 5 })
	server.open(lost.Round)
	server.open(good.Round)
	items := lost.items(t, 6)
	p.keeps(t, lost, 5, 0, items[:5]...)
	p.keeps(t, good, 4, 0, good.items(t, 4)...)
	p.Shuffler.Close()
	file := p.vault.path(lost.digest)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func() error{
		"removed":     func() error { return os.Remove(file) },
		"overwritten": func() error { return os.WriteFile(file, make([]byte, secretBytes), 0o600) },
		"cut":         func() error { return os.WriteFile(file, raw[:5], 0o600) },
		"another":     func() error { return os.WriteFile(file, slices.Repeat([]byte{1}, secretBytes), 0o600) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		p = p.again(t)
		p.refuses(t, what, codes.Unavailable, lost, items[5])
		p.look(t, lost)
		if p.known("r").now() != phaseLost {
			t.Errorf("%s: the round goes on", what)
		}
	}
	p.Shuffler.Close()
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	p = p.again(t)
	p.keeps(t, lost, 0, 5, items[:5]...)
	p.Shuffler.Close()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p = p.again(t)
	server.end("r", service.RoundState_ROUND_STATE_ABORTED)
	eventually(t, "the end of the round", func() bool { return p.known("r") == nil })
	p.keeps(t, good, 1, 0, good.items(t, 1)...)
	eventually(t, "the other round", func() bool { return p.known("good") == nil })
	sealed, _ := server.got()
	if len(sealed) != 5 {
		t.Errorf("%d reports of the other round were forwarded, want 5", len(sealed))
	}
}
