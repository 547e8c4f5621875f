package shuffler

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hpke"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

// sharedRound is a round of a mechanism for two servers.
func sharedRound(r *fl.Round) {
	r.Mechanism, r.Params, r.Epsilon, r.Delta = hdsum.SharesName, nil, 5, 1e-6
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
		r.SealKey, r.ShareKey = nil, newestOf(t, shareKeys()).Public()
		got, err := s.Operator().OpenRound(t.Context(), *r)
		if err != nil {
			t.Fatal(err)
		}
		*r = got
	})
}

// requireZeros asks for the estimate of a number of reports of zeros, with the noise of the mechanism.
func requireZeros(t *testing.T, s *servertest.Server, reports int64) {
	t.Helper()
	got, err := s.Operator().Estimate(t.Context(), "r", false)
	if err != nil {
		t.Fatal(err)
	}
	if got.Reports != reports {
		t.Errorf("%d reports, want %d", got.Reports, reports)
	}
	for i, v := range got.Mean().Value {
		if stdErr := got.Mean().StdErr[i]; !(math.Abs(v) <= 6*stdErr) {
			t.Errorf("mean[%d] = %g ± %g", i, v, stdErr)
		}
	}
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
	bad := make([]byte, r.format.Sealed) // sealed to nobody, with a good share
	bad = append(bad, r.sealShare(t, bad, make([]byte, r.format.Tag+r.format.Second))...)
	p.keeps(t, r, 1, 0, bad)
	p.gone(t, "r", forwarded)
	requireZeros(t, s, 29)
}

// provedRound is sharedRound with proofs.
func provedRound(r *fl.Round) {
	sharedRound(r)
	r.Params = fl.Params{hdsum.ParamProof: fl.Text(hdsum.ProofPrio3)}
}

// Of a round with proofs both servers count what has one. A report whose proof does not hold is taken, since the
// shuffler alone cannot see it, and is rejected when the server has both parts of its check.
func TestAReportWithoutAProofCountsAtNeitherServer(t *testing.T) {
	s := realServer(t)
	p := start(t, Config{Upstream: s.Conn(), ForwardBytes: 3000}, nil)
	r := opened(t, s, provedRound)
	p.keeps(t, r, 29, 0, r.items(t, 29)...)
	item := func(change func(report []byte)) []byte {
		report, err := r.mechanism.Encode(nil, make([]float64, r.Dim), r.rng)
		if err != nil {
			t.Fatal(err)
		}
		change(report)
		item, err := r.sealer.Item(report, nil)
		if err != nil {
			t.Fatal(err)
		}
		return item
	}
	const blind = 32 // at the end, behind the proof
	p.refuses(t, "a share without a form", codes.InvalidArgument, r, item(func(report []byte) { report[len(report)-1]++ }))
	p.keeps(t, r, 1, 0, item(func(report []byte) { report[len(report)-blind-16]++ }))
	p.gone(t, "r", forwarded)
	requireZeros(t, s, 29)
}

// sealShare seals what is to follow a sealed report as its client does.
func (r *sealedRound) sealShare(t *testing.T, sealed, plaintext []byte) []byte {
	t.Helper()
	public, err := hpke.DHKEM(ecdh.X25519()).NewPublicKey(r.ShareKey[6:])
	if err != nil {
		t.Fatal(err)
	}
	id := seal.ID(sealed)
	share, err := hpke.Seal(public, hpke.HKDFSHA256(), hpke.AES128GCM(), slices.Concat([]byte("hushgrad sealed share"), r.digest[:], id[:]), plaintext)
	if err != nil {
		t.Fatal(err)
	}
	return share
}

func TestBadSharesAreRefused(t *testing.T) {
	s := realServer(t)
	p := start(t, Config{Upstream: s.Conn()}, nil)
	r := opened(t, s, func(r *fl.Round) {
		sharedRound(r)
		r.Dim = 1
	})
	items := r.items(t, 3)
	bad := items[1]
	share := bytes.Repeat([]byte{0xFF}, r.format.Tag+r.format.Second) // has bits that no share uses
	copy(bad[r.format.Sealed:], r.sealShare(t, bad[:r.format.Sealed], share))
	p.refuses(t, "a bad share", codes.InvalidArgument, r, items...)
	p.keeps(t, r, 2, 0, items[0], items[2])
}

// The first server knows the seeds. A share that it has seen on its way counts once, whatever reports it puts before the share: with
// a thousand copies it would learn a thousand times the gradient, and one noise.
func TestACopiedShareIsRefused(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{}, server)
	r := newSealedRound(t, sharedRound)
	server.open(r.Round)
	honest := r.items(t, 1)[0]
	p.keeps(t, r, 1, 0, honest)
	for _, own := range r.items(t, 1000) {
		copy(own[r.format.Sealed:], honest[r.format.Sealed:])
		p.refuses(t, "a copied share", codes.InvalidArgument, r, own)
	}
	if held := p.known(r.ID).held.Load(); held != 1 {
		t.Errorf("%d reports are held, want 1", held)
	}
	p.keeps(t, r, 0, 1, honest) // a client whose receipt was withheld sends the same bytes
}

// A round whose shares are sealed to no key of this shuffler is refused before anybody makes some.
func TestRoundsWithAnotherShareKeyAreRefused(t *testing.T) {
	stranger, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	server := newRecorder()
	p := start(t, Config{}, server)
	r := newSealedRound(t, func(r *fl.Round) {
		sharedRound(r)
		r.ShareKey = stranger.Public()
	})
	server.open(r.Round)
	_, err = p.clients.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"})
	if status.Code(err) != codes.FailedPrecondition || fieldOf(err) != "share_key" || !strings.Contains(err.Error(), stranger.Fingerprint().String()) {
		t.Errorf("%v, want an error about share_key %s", err, stranger.Fingerprint())
	}
}

// A round whose shares no message could bring is refused before anybody makes some.
func TestRoundsWhoseSharesAreTooLongAreRefused(t *testing.T) {
	recorded := newRecorder()
	p := start(t, Config{Limits: server.Limits{MaxMessageBytes: server.MinMessageBytes}}, recorded)
	r := newSealedRound(t, func(r *fl.Round) {
		sharedRound(r)
		r.Dim = 1 << 15
	})
	recorded.open(r.Round)
	_, err := p.clients.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"})
	if status.Code(err) != codes.FailedPrecondition || fieldOf(err) != "dim" {
		t.Errorf("%v, want an error about dim", err)
	}
}

// A server that rejects other reports after it has seen the sum does not get the sum of the others:
// the difference would be the share of one client.
func TestOneSumLeavesTheShuffler(t *testing.T) {
	t.Parallel() // it mostly waits
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

// A shuffler whose journal comes from a backup does not release another sum: neither of a round that the journal has
// without its sum, nor of one that the journal does not know. The directory of secrets, which no backup has, says so.
func TestARestoredJournalReleasesNothingAgain(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{Secrets: t.TempDir()}, server)
	r := newSealedRound(t, sharedRound)
	server.open(r.Round)
	var tries atomic.Int32
	server.finish = func([]byte) error { tries.Add(1); return status.Error(codes.FailedPrecondition, "again") }
	p.keeps(t, r, 30, 0, r.items(t, 30)...)
	eventually(t, "a sum", func() bool { return tries.Load() > 0 })
	p.Shuffler.Close()
	var older journal.Batch
	older.Delete(sumKey("r"), append(sumKey("r"), 0))
	if err := p.cfg.Journal.Commit(&older); err != nil {
		t.Fatal(err)
	}
	before := tries.Load()
	p = start(t, p.cfg, server)
	p.gone(t, "r", withdrawn)
	if tries.Load() != before {
		t.Error("another sum has left")
	}
	p.Shuffler.Close()
	p.cfg.Journal = journal.NewMemory()
	p = start(t, p.cfg, server)
	p.refuses(t, "a round that was released", codes.FailedPrecondition, r, r.items(t, 1)...)
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
