package server_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
	"github.com/hushgrad/hushgrad/server/journal"
)

// 32 clients, with -long 200, spend each of their tokens on two reports at once, while rounds are
// closed, reach their target and are aborted, and while the server is stopped and started anew. Of
// each token at most one report is acknowledged, and an estimate counts exactly the
// acknowledged ones.
func TestTokensThroughAbortsClosesAndRestarts(t *testing.T) {
	t.Parallel()
	clients := int64(32) // a token takes some milliseconds
	if *long {
		clients = 200
	}
	cfg := server.Config{Journal: journal.NewMemory(), Limits: server.Limits{ShutdownTimeout: time.Millisecond}} // breaks calls
	var current atomic.Pointer[servertest.Server]
	begin := func() {
		s, err := servertest.Start(cfg)
		if err != nil {
			t.Fatal(err)
		}
		current.Store(s)
	}
	restart := func() {
		if err := current.Load().Close(); err != nil {
			t.Error(err)
		}
		begin()
	}
	begin()
	defer func() { _ = current.Load().Close() }()
	tokens := theIssuer(t)
	k, err := tokens.CreateKey(t.Context(), "tokens", time.Time{}) // one for all rounds: clients are a round's own
	if err != nil {
		t.Fatal(err)
	}

	estimates := map[string]*fl.Estimate{}
	for _, c := range []struct {
		id                string
		restarts, ends    []int64 // when that many reports are acknowledged
		target            int64
		aborted, complete bool // complete: every client succeeds
	}{
		{id: "restarted", restarts: []int64{clients / 5, 2 * clients / 5, 3 * clients / 5}, ends: []int64{clients}, complete: true},
		{id: "closed", ends: []int64{clients / 4}}, // no call is in doubt
		{id: "target", target: 3 * clients / 5},
		{id: "aborted", restarts: []int64{clients / 8}, ends: []int64{clients / 4}, aborted: true},
	} {
		description := cocoRound(c.id)
		description.TargetReports = int(c.target)
		description.IssuerKey = k.PublicKey
		opened, err := current.Load().Operator().OpenRound(t.Context(), description)
		if err != nil {
			t.Fatal(err)
		}
		s := &spenders{round: opened, tokens: make([][]byte, clients), reports: made(t, opened, int(2*clients)), counted: make([]atomic.Int64, clients)}
		var issuing errgroup.Group
		for i := range s.tokens {
			issuing.Go(func() (err error) {
				if s.tokens[i], err = issued(t.Context(), tokens, fmt.Sprint("client", i), opened); err != nil {
					return err
				}
				for n := 2 * i; n < 2*i+2; n++ {
					s.reports[n] = assigned(s.reports[n], s.tokens[i])
				}
				return nil
			})
		}
		if err := issuing.Wait(); err != nil {
			t.Fatal(err)
		}

		var spending sync.WaitGroup
		for i := range s.reports {
			spending.Go(func() { s.spend(t, &current, i) })
		}
		for _, n := range c.restarts {
			s.wait(t, n)
			restart()
		}
		for _, n := range c.ends {
			s.wait(t, n)
			if operator := current.Load().Operator(); c.aborted {
				err = operator.AbortRound(t.Context(), c.id)
			} else {
				err = operator.CloseRound(t.Context(), c.id)
			}
			if err != nil {
				t.Errorf("round %s: %v", c.id, err)
			}
		}
		spending.Wait()

		acknowledged := s.acknowledged()
		t.Logf("round %s: %d reports were acknowledged, %d calls were broken", c.id, len(acknowledged), s.broken.Load())
		if c.complete && len(acknowledged) != int(clients) || len(acknowledged) < int(c.target) {
			t.Errorf("round %s: %d reports were acknowledged of %d clients", c.id, len(acknowledged), clients)
		}
		if c.aborted {
			_, err := current.Load().Operator().Estimate(t.Context(), c.id, true)
			wantCode(t, c.id, unwrap(err), codes.FailedPrecondition)
			continue
		}
		got, err := current.Load().Operator().Estimate(t.Context(), c.id, true)
		if err != nil {
			t.Fatal(err)
		}
		if want := estimateOf(t, mechanismOf(t, opened), acknowledged); !reflect.DeepEqual(got, want) {
			t.Errorf("round %s: the estimate is of %d reports, %d were acknowledged; or it is of others", c.id, got.Reports, want.Reports)
		}
		estimates[c.id] = got
	}
	restart()
	for id, want := range estimates {
		if got, err := current.Load().Operator().Estimate(t.Context(), id, false); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("round %s after a restart: %v, %v", id, got, err)
		}
	}
}

// spenders are clients that have two reports for each of their tokens.
type spenders struct {
	round           fl.Round
	tokens, reports [][]byte       // client i has the reports 2i and 2i+1
	counted         []atomic.Int64 // by client: 1 + the report that was acknowledged, or 0
	n, broken       atomic.Int64
}

// spend sends a report until it is known what became of it, and once more if it was counted.
func (s *spenders) spend(t *testing.T, current *atomic.Pointer[servertest.Server], report int) {
	req := admitted(t, s.round, s.tokens[report/2:report/2+1], s.reports[report])
	for tries := 0; t.Context().Err() == nil; tries++ {
		resp, err := sendOne(t.Context(), current.Load(), req)
		switch status.Code(err) {
		case codes.OK:
			if was := s.counted[report/2].Swap(int64(1 + report)); was == 0 {
				s.n.Add(1)
			} else if was != int64(1+report) || resp.GetAccepted() != 0 {
				t.Errorf("round %s, report %d: %v, but report %d of this token was acknowledged", s.round.ID, report, resp, was-1)
				return
			} else {
				return // it was sent again
			}
			if resp.GetAccepted()+resp.GetDuplicates() != 1 || resp.GetDuplicates() > 0 && tries == 0 {
				t.Errorf("round %s, report %d, try %d: %v", s.round.ID, report, tries, resp)
			}
		case codes.AlreadyExists, codes.FailedPrecondition: // the other report was counted, or the round is over
			return
		case codes.Unavailable, codes.Canceled: // a restart
			s.broken.Add(1)
			time.Sleep(time.Millisecond)
		default:
			t.Errorf("round %s, report %d: %v", s.round.ID, report, err)
			return
		}
	}
}

func sendOne(ctx context.Context, s *servertest.Server, req *service.SubmitReportsRequest) (*service.SubmitReportsResponse, error) {
	stream, err := service.NewRoundsClient(s.Conn()).SubmitReports(ctx)
	if err != nil {
		return nil, err
	}
	_ = stream.Send(req) // CloseAndRecv has the reason
	return stream.CloseAndRecv()
}

// wait returns when n reports are acknowledged.
func (s *spenders) wait(t *testing.T, n int64) {
	t.Helper()
	for s.n.Load() < n {
		if t.Failed() {
			t.FailNow()
		}
		time.Sleep(time.Millisecond)
	}
}

// acknowledged returns the reports that were.
func (s *spenders) acknowledged() [][]byte {
	var all [][]byte
	for i := range s.counted {
		if one := s.counted[i].Load(); one > 0 {
			all = append(all, s.reports[one-1])
		}
	}
	return slices.Clip(all)
}
