package shuffler

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/journal"
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

// Whatever the server answers on the way, it gets everything in the end.
func TestForwardingStartsOverUntilItIsDone(t *testing.T) {
	for _, code := range []codes.Code{codes.Unavailable, codes.ResourceExhausted, codes.Internal, codes.PermissionDenied, codes.FailedPrecondition, codes.InvalidArgument} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			server := newRecorder()
			server.refuse = func(call int) error {
				if call == 2 || call == 5 {
					return status.Error(code, "test")
				}
				return nil
			}
			p := start(t, Config{ForwardBytes: 150}, server) // two reports in each message
			r := newSealedRound(t, func(r *fl.Round) { r.TargetReports = 9 })
			server.open(r.Round)
			items := r.items(t, 9)
			p.keeps(t, r, 9, 0, items...)
			p.gone(t, "r", forwarded)
			sealed, _ := server.got()
			sameReports(t, r, sealed, items)
		})
	}
}

// A round whose secret is gone takes no reports, keeps what it has in case the secret comes back,
// and ends with the round.
func TestALostSecretLosesNoOtherRound(t *testing.T) {
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

// A secret of no round, which a crash has left, is destroyed at the next start. Other files stay.
func TestLeftSecretsAreDestroyed(t *testing.T) {
	dir := t.TempDir()
	v, err := openVault(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.create([32]byte{1}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, Config{Secrets: dir}, newRecorder())
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "notes" {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

// Reports that many clients send at once, and again, and together with others, are counted once.
func TestReportsAtTheSameTimeAreCountedOnce(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{}, server)
	const n = 60
	r := newSealedRound(t, func(r *fl.Round) { r.TargetReports = n })
	server.open(r.Round)
	items := r.items(t, n-1)
	var callers sync.WaitGroup
	for c := range 8 {
		callers.Go(func() {
			for i := range items {
				at := (i*(2*c+1) + 7*c) % len(items)
				if got, err := p.send(t.Context(), r, items[at], items[(at+c)%len(items)]); err != nil || got.GetAccepted()+got.GetDuplicates() != 2 {
					t.Errorf("%v, %v", got, err)
				}
			}
		})
	}
	callers.Wait()
	if held := p.known("r").held.Load(); held != n-1 {
		t.Errorf("%d reports are held, want %d", held, n-1)
	}
	last := r.items(t, 1)
	p.keeps(t, r, 1, 0, last...)
	p.gone(t, "r", forwarded)
	sealed, _ := server.got()
	sameReports(t, r, sealed, append(items, last...))
}

// fullJournal has no room, and fails when broken.
type fullJournal struct {
	journal.Journal
	mu  sync.Mutex
	err error
}

func (j *fullJournal) set(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = err
}

// Commit implements journal.Journal. Like a disk, a full one deletes.
func (j *fullJournal) Commit(b *journal.Batch) error {
	j.mu.Lock()
	err := j.err
	j.mu.Unlock()
	adds := slices.ContainsFunc(b.Changes(), func(c journal.Change) bool { return c.To == nil })
	if err != nil && (adds || err != journal.ErrFull) {
		return err
	}
	return j.Journal.Commit(b)
}

// A full disk refuses reports and says so. It does not stop a round from being forwarded, and
// service goes on by itself.
func TestAFullDiskRefusesAndStillForwards(t *testing.T) {
	server := newRecorder()
	kept := &fullJournal{Journal: journal.NewMemory()}
	p := start(t, Config{Journal: kept}, server)
	r := newSealedRound(t, nil)
	server.open(r.Round)
	items := r.items(t, 6)
	p.keeps(t, r, 5, 0, items[:5]...)
	kept.set(journal.ErrFull)
	p.refuses(t, "a full disk", codes.ResourceExhausted, r, items[5])
	if p.Ready() == nil {
		t.Error("the shuffler is ready on a full disk")
	}
	server.close("r")
	eventually(t, "the end at the server", func() bool {
		_, complete := server.got()
		return complete
	})
	kept.set(nil)
	p.gone(t, "r", forwarded)
	eventually(t, "room", func() bool { return p.Ready() == nil })
}

// After a write that may have failed, nothing is accepted and nothing leaves.
func TestABrokenJournalStopsEverything(t *testing.T) {
	server := newRecorder()
	kept := &fullJournal{Journal: journal.NewMemory()}
	p := start(t, Config{Journal: kept}, server)
	r := newSealedRound(t, nil)
	server.open(r.Round)
	items := r.items(t, 6)
	p.keeps(t, r, 5, 0, items[:5]...)
	kept.set(os.ErrDeadlineExceeded)
	p.refuses(t, "a broken journal", codes.Unavailable, r, items[5])
	kept.set(nil)
	p.refuses(t, "a journal that was broken", codes.Unavailable, r, items[5])
	server.close("r")
	p.pause(t.Context(), 10*p.cfg.every)
	if calls := server.callsNow(); calls > 0 || p.Ready() == nil {
		t.Errorf("%d calls of ForwardReports, ready: %v", calls, p.Ready())
	}
	select {
	case <-p.Failed():
	default:
		t.Error("Failed is open")
	}
}
