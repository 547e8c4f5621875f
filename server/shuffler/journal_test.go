package shuffler

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

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

// slowJournal lets a commit wait until another one comes, or until it is opened.
type slowJournal struct {
	journal.Journal
	mu     sync.Mutex
	wait   bool
	inside int
	opened chan struct{}
}

// Commit implements journal.Journal.
func (j *slowJournal) Commit(b *journal.Batch) error {
	j.mu.Lock()
	wait := j.wait
	if wait {
		if j.inside++; j.inside == 2 {
			close(j.opened)
		}
	}
	j.mu.Unlock()
	if wait {
		<-j.opened
	}
	return j.Journal.Commit(b)
}

// A copy that comes while its first is being written waits for it: it is neither acknowledged before
// the first is on disk, nor counted again.
func TestACopyWaitsForItsFirst(t *testing.T) {
	kept := &slowJournal{Journal: journal.NewMemory(), opened: make(chan struct{})}
	server := newRecorder()
	p := start(t, Config{Journal: kept}, server)
	r := newSealedRound(t, nil)
	server.open(r.Round)
	p.keeps(t, r, 1, 0, r.items(t, 1)...)
	begun, item := p.known("r"), r.items(t, 1)[0]
	kept.mu.Lock()
	kept.wait = true
	kept.mu.Unlock()
	first := make(chan error, 1)
	go func() {
		_, err := begun.submit(t.Context(), item, nil)
		first <- err
	}()
	eventually(t, "the first", func() bool {
		kept.mu.Lock()
		defer kept.mu.Unlock()
		return kept.inside == 1
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got, err := begun.submit(ctx, item, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the copy: %+v, %v", got, err)
	}
	close(kept.opened)
	if err := <-first; err != nil {
		t.Error(err)
	}
	p.keeps(t, r, 0, 1, item)
	if held := begun.held.Load(); held != 2 {
		t.Errorf("%d reports are held, want 2", held)
	}
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
	t.Parallel() // it mostly waits
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
	t.Parallel() // it mostly waits
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

// crowded is a journal on a disk that somebody else has filled.
type crowded struct{ journal.Journal }

// Room implements journal.Roomy.
func (crowded) Room() error { return journal.ErrFull }

// A shuffler whose disk is full is not ready before it has refused a report.
func TestAShufflerOnAFullDiskIsNeverReady(t *testing.T) {
	if err := start(t, Config{Journal: crowded{journal.NewMemory()}}, newRecorder()).Ready(); !errors.Is(err, journal.ErrFull) {
		t.Errorf("got %v", err)
	}
}
