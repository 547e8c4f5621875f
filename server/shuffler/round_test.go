package shuffler

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
)

func TestAReportIsKeptOnce(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{}, server)
	r := newSealedRound(t, nil)
	server.open(r.Round)
	items := r.items(t, 4)
	p.keeps(t, r, 2, 0, items[:2]...)
	p.keeps(t, r, 0, 1, items[0])
	p.keeps(t, r, 2, 3, items[2], items[1], items[2], items[3], items[3])
	if held := p.known("r").held.Load(); held != 4 {
		t.Errorf("%d reports are held, want 4", held)
	}
}

func TestTheTargetForwardsEverythingOnce(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{}, server)
	r := newSealedRound(t, func(r *fl.Round) { r.TargetReports = 6 })
	server.open(r.Round)
	items := r.items(t, 7)
	p.keeps(t, r, 5, 0, items[:5]...)
	p.keeps(t, r, 1, 1, items[4], items[5])
	p.gone(t, "r", forwarded)
	sealed, complete := server.got()
	sameReports(t, r, sealed, items[:6])
	if !complete {
		t.Error("the round was not completed")
	}
	p.refuses(t, "a late report", codes.FailedPrecondition, r, items[6])
	p.refuses(t, "a copy after the end", codes.FailedPrecondition, r, items[0])
}

// Clients are not told what the server said before the end of the round.
func TestTheEndIsSeenAtOnce(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{every: time.Hour}, server)
	r := newSealedRound(t, func(r *fl.Round) { r.TargetReports = 5 })
	server.open(r.Round)
	p.keeps(t, r, 5, 0, r.items(t, 5)...)
	p.gone(t, "r", forwarded)
	resp, err := p.clients.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"})
	if err != nil || resp.GetStatus().GetState() != service.RoundState_ROUND_STATE_CLOSED {
		t.Errorf("%v, %v", resp, err)
	}
}

func TestTheOperatorsCloseForwards(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{Floor: 6}, server)
	r := newSealedRound(t, nil)
	server.open(r.Round)
	server.close("r")
	items := r.items(t, 6)
	p.keeps(t, r, 5, 0, items[:5]...) // min_reports are there, and the floor is not
	p.look(t, r)
	if sealed, complete := server.got(); len(sealed) > 0 || complete {
		t.Errorf("%d reports were forwarded below the floor", len(sealed))
	}
	p.keeps(t, r, 1, 0, items[5])
	p.gone(t, "r", forwarded)
	sealed, _ := server.got()
	sameReports(t, r, sealed, items)
}

// look lets the watcher of a round look once more, completely.
func (p *party) look(t testing.TB, r *sealedRound) {
	t.Helper()
	before := p.server.askedNow() // after the second question from now, the first look is over
	eventually(t, "two questions about a round", func() bool { return p.server.askedNow() >= before+2 })
}

func TestTheDeadlineForwardsOrDeletes(t *testing.T) {
	t.Parallel() // it mostly waits
	for name, c := range map[string]struct {
		reports int
		how     outcome
	}{"enough": {5, forwarded}, "too few": {4, expired}} {
		t.Run(name, func(t *testing.T) {
			server := newRecorder()
			clock := newClock()
			p := start(t, Config{Now: clock.now}, server)
			r := newSealedRound(t, func(r *fl.Round) { r.Deadline = clock.now().Add(time.Hour) })
			server.open(r.Round)
			items := r.items(t, 6)
			p.keeps(t, r, c.reports, 0, items[:c.reports]...)
			p.look(t, r)
			if sealed, _ := server.got(); len(sealed) > 0 {
				t.Fatalf("%d reports were forwarded before the deadline", len(sealed))
			}
			clock.add(time.Hour)
			p.refuses(t, "a report after the deadline", codes.FailedPrecondition, r, items[5])
			p.gone(t, "r", c.how)
			sealed, complete := server.got()
			if c.how == forwarded {
				sameReports(t, r, sealed, items[:c.reports])
			}
			if complete != (c.how == forwarded) || c.how == expired && server.calls > 0 {
				t.Errorf("%d calls to the server, complete %t", server.calls, complete)
			}
			want := map[outcome]service.RoundState{forwarded: service.RoundState_ROUND_STATE_CLOSED, expired: service.RoundState_ROUND_STATE_EXPIRED}[c.how]
			eventually(t, "the state", func() bool {
				resp, err := p.clients.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"})
				return err == nil && resp.GetStatus().GetState() == want
			})
		})
	}
}

// A round that the server has ended is deleted, and nothing of it leaves.
func TestTheServersEndDeletes(t *testing.T) {
	for state, how := range map[service.RoundState]outcome{
		service.RoundState_ROUND_STATE_ABORTED: withdrawn, service.RoundState_ROUND_STATE_EXPIRED: withdrawn,
		service.RoundState_ROUND_STATE_FAILED: withdrawn, service.RoundState_ROUND_STATE_CLOSED: forwarded,
	} {
		server := newRecorder()
		p := start(t, Config{}, server)
		r := newSealedRound(t, nil)
		server.open(r.Round)
		p.keeps(t, r, 5, 0, r.items(t, 5)...)
		server.end("r", state)
		p.gone(t, "r", how)
		if server.calls > 0 {
			t.Errorf("%v: reports were forwarded", state)
		}
	}
}

// A server that does not know the round, or has another one with its id, keeps the reports
// waiting for an hour.
func TestAServerThatForgetsARoundGetsAnHour(t *testing.T) {
	for name, forget := range map[string]func(s *recorder, other fl.Round){
		"unknown": func(s *recorder, _ fl.Round) { s.with(func() { delete(s.status, "r") }) },
		"another": func(s *recorder, other fl.Round) { s.open(other) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newRecorder()
			clock := newClock()
			p := start(t, Config{Now: clock.now}, server)
			r := newSealedRound(t, func(r *fl.Round) { r.TargetReports = 6 })
			server.open(r.Round)
			items := r.items(t, 7)
			p.keeps(t, r, 4, 0, items[:4]...)
			forget(server, newSealedRound(t, nil).Round)
			p.look(t, r)
			p.keeps(t, r, 1, 0, items[4]) // clients do not notice
			clock.add(59 * time.Minute)
			p.look(t, r)
			if p.known("r") == nil {
				t.Fatal("the round was deleted within the hour")
			}
			clock.add(2 * time.Minute)
			p.gone(t, "r", withdrawn)
		})
	}
}
