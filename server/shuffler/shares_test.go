package shuffler

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/shares"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/limits"
	"github.com/hushgrad/hushgrad/server/seal"
	"github.com/hushgrad/hushgrad/server/servertest"
)

// sharedRound is a round of a mechanism for two servers.
func sharedRound(r *fl.Round) {
	r.Mechanism, r.Params, r.Epsilon, r.Delta = shares.Name, nil, 5, 1e-6
	r.Dim, r.MinReports, r.TargetReports = 4, 20, 30
}

// realServer runs a parameter server whose keys are in a directory of the test.
func realServer(t *testing.T) *servertest.Server {
	t.Helper()
	keys, err := seal.OpenKeys(filepath.Join(t.TempDir(), "keys"), seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	s, err := servertest.Start(server.Config{Seal: keys, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// opened returns a round that a server has opened, as its clients see it.
func opened(t *testing.T, s *servertest.Server, change func(*fl.Round)) *sealedRound {
	t.Helper()
	return newSealedRound(t, func(r *fl.Round) {
		change(r)
		r.SealKey = nil
		got, err := s.Operator().OpenRound(t.Context(), *r)
		if err != nil {
			t.Fatal(err)
		}
		*r = got
	})
}

// The shuffler is the second server of a mechanism for two: the sum of its shares and the server's
// sum give the estimate, whatever is sent twice, and whatever the server rejects.
func TestTheShufflerIsTheSecondServer(t *testing.T) {
	s := realServer(t)
	p := start(t, Config{Upstream: s.Conn(), ForwardBytes: 300}, nil)
	r := opened(t, s, sharedRound)
	items := r.items(t, 29)
	p.keeps(t, r, 29, 0, items...)
	p.keeps(t, r, 0, 3, items[:3]...)
	bad := make([]byte, r.format.Item()) // sealed to nobody, with a good share
	bad[0] = 1
	p.keeps(t, r, 1, 0, bad)
	p.gone(t, "r", forwarded)
	got, err := s.Operator().Estimate(t.Context(), "r", false)
	if err != nil {
		t.Fatal(err)
	}
	if got.Reports != 29 {
		t.Errorf("%d reports, want 29", got.Reports)
	}
	for i, v := range got.Mean().Value { // of zeros, with the noise of the mechanism
		if stdErr := got.Mean().StdErr[i]; !(math.Abs(v) <= 6*stdErr) {
			t.Errorf("mean[%d] = %g ± %g", i, v, stdErr)
		}
	}
}

func TestBadSharesAreRefused(t *testing.T) {
	s := realServer(t)
	p := start(t, Config{Upstream: s.Conn()}, nil)
	r := opened(t, s, func(r *fl.Round) {
		sharedRound(r)
		r.Dim = 1
	})
	items := r.items(t, 3)
	m := r.mechanism.(fl.SharedMechanism)
	agg, err := m.NewShareAggregator(fl.SecondServer)
	if err != nil {
		t.Fatal(err)
	}
	bad := items[1]
	bad[len(bad)-1] = 0xFF // bits that no share uses
	share, _ := r.format.Second(bad)
	if err := agg.Add([]byte{1}, share); !errors.Is(err, fl.ErrBadReport) {
		t.Fatalf("the mechanism takes the share: %v", err)
	}
	p.refuses(t, "a bad share", codes.InvalidArgument, r, items...)
	p.keeps(t, r, 2, 0, items[0], items[2])
}

// A round whose shares no message could bring is refused before anybody makes some.
func TestRoundsWhoseSharesAreTooLongAreRefused(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{Limits: limits.Limits{MaxMessageBytes: limits.MinMessageBytes}}, server)
	r := newSealedRound(t, func(r *fl.Round) {
		sharedRound(r)
		r.Dim = 1 << 15
	})
	server.open(r.Round)
	_, err := p.clients.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"})
	if status.Code(err) != codes.FailedPrecondition || fieldOf(err) != "dim" {
		t.Errorf("%v, want an error about dim", err)
	}
}

// A server that rejects other reports after it has seen the sum does not get the sum of the others:
// the difference would be the share of one client.
func TestOneSumLeavesTheShuffler(t *testing.T) {
	dishonest := newRecorder()
	p := start(t, Config{Secrets: t.TempDir()}, dishonest)
	r := newSealedRound(t, sharedRound)
	dishonest.open(r.Round)
	victim := r.items(t, 30)
	sums := map[string]bool{}
	tries := 0
	dishonest.finish = func(sum []byte) error {
		sums[string(sum)] = true
		if tries++; tries < 4 {
			dishonest.reject = func(sealed []byte) bool { return string(sealed) == string(victim[tries][:r.format.Sealed]) }
			return status.Error(codes.FailedPrecondition, fmt.Sprint("try ", tries))
		}
		return nil
	}
	p.keeps(t, r, 30, 0, victim...)
	eventually(t, "two tries", func() bool {
		dishonest.mu.Lock()
		defer dishonest.mu.Unlock()
		return tries >= 2
	})
	p = p.again(t)
	p.gone(t, "r", forwarded)
	if tries != 4 || len(sums) != 1 {
		t.Errorf("%d sums left in %d tries", len(sums), tries)
	}
	for sum := range sums {
		if len(sum) == 0 {
			t.Error("no sum left")
		}
	}
}

// A server that rejects nearly all reports gets no sum of the few that are left.
func TestNoSumOfFewReportsLeaves(t *testing.T) {
	dishonest := newRecorder()
	p := start(t, Config{}, dishonest)
	r := newSealedRound(t, sharedRound)
	dishonest.open(r.Round)
	items := r.items(t, 30)
	good := map[string]bool{}
	for _, item := range items[:r.MinReports-1] {
		good[string(item[:r.format.Sealed])] = true
	}
	dishonest.reject = func(sealed []byte) bool { return !good[string(sealed)] }
	p.keeps(t, r, 30, 0, items...)
	p.gone(t, "r", forwarded)
	if n := len(dishonest.completed.GetShareSum()); n > 0 {
		t.Errorf("a sum of %d reports left (%d bytes), min_reports is %d", r.MinReports-1, n, r.MinReports)
	}
}
