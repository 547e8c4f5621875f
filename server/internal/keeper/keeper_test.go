package keeper

import (
	"errors"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hushgrad/hushgrad/server/journal"
)

// moody is a journal that refuses what the test says.
type moody struct {
	journal.Journal
	refuse, room error
	tries        int
}

func (m *moody) Commit(b *journal.Batch) error {
	m.tries++
	if m.refuse != nil {
		return m.refuse
	}
	return m.Journal.Commit(b)
}

func (m *moody) Room() error { return m.room }

func put() *journal.Batch {
	var b journal.Batch
	b.Put([]byte("k"), []byte("v"))
	return &b
}

// A full journal is tried now and then, and not for each question.
func TestAFullJournalIsTriedNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &moody{Journal: journal.NewMemory()}
		told := 0
		p := NewProber(m, "probe", func(time.Time, error) { told++ })
		if err := errors.Join(p.Full(), p.Commit(put()), p.Room()); err != nil || told != 1 {
			t.Fatalf("at first: %v, told of %d commits", err, told)
		}
		m.refuse = journal.ErrFull
		if err := p.Commit(put()); !errors.Is(err, journal.ErrFull) || told != 2 {
			t.Fatalf("%v, told of %d commits", err, told)
		}
		m.tries = 0
		for range 50 { // in 5 s
			if p.Full() == nil || p.Room() == nil {
				t.Fatal("the full journal has room")
			}
			time.Sleep(BetweenTries)
		}
		if m.tries < 20 || m.tries > 50 {
			t.Errorf("tried %d times in 5 s, want at most once in %v", m.tries, BetweenTries)
		}
		m.refuse = nil
		time.Sleep(2 * BetweenTries)
		if err := p.Full(); err != nil {
			t.Errorf("with room: %v", err)
		}
		m.room = journal.ErrFull
		if err := p.Room(); !errors.Is(err, journal.ErrFull) || p.Full() != nil {
			t.Errorf("on a full disk: %v", err)
		}
	})
}

// A full journal goes on; after any other error nothing is written.
func TestAWriteThatMayHaveFailedIsTheLast(t *testing.T) {
	m := &moody{Journal: journal.NewMemory(), refuse: journal.ErrFull}
	s := NewStopper(m, slog.New(slog.DiscardHandler))
	if err := s.Commit(put()); !errors.Is(err, journal.ErrFull) || s.Broken() != nil {
		t.Errorf("full: %v, broken: %v", err, s.Broken())
	}
	m.refuse = os.ErrDeadlineExceeded
	for range 2 { // the first error stays
		if err := s.Commit(put()); !errors.Is(err, journal.ErrFailed) || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		m.refuse, m.tries = nil, 0
	}
	if m.tries != 0 || !errors.Is(s.Room(), journal.ErrFailed) {
		t.Errorf("%d writes after the failure, room: %v", m.tries, s.Room())
	}
	select {
	case <-s.Failed():
	default:
		t.Error("Failed is open")
	}
}
