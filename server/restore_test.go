package server

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

// A snapshot takes the place of the log, and a server that starts from it has the same state
// and goes on with the same numbers.
func TestASnapshotStandsForItsReports(t *testing.T) {
	kept := journal.NewMemory()
	c := call(t, kept, smallRound())
	logs := func() int {
		n := 0
		for range kept.Scan(c.round.key("log/"), journal.After(c.round.key("log/"))) {
			n++
		}
		return n
	}
	for key := range 6 {
		if _, err := c.submit(key, c.reports(10)); err != nil {
			t.Fatal(err)
		}
		if key%2 == 1 {
			before := c.counted()
			if logs() != 2 {
				t.Errorf("%d log entries before the snapshot, want 2", logs())
			}
			c.round.takeSnapshot()
			if logs() != 0 || !bytes.Equal(before, c.counted()) {
				t.Errorf("%d log entries after the snapshot; state kept: %t", logs(), bytes.Equal(before, c.counted()))
			}
		}
	}
	if _, err := c.submit(6, c.reports(10)); err != nil {
		t.Fatal(err)
	}
	next := call(t, kept, smallRound())
	if !bytes.Equal(next.counted(), c.counted()) || next.round.head().reports != 70 || next.round.nextLog.Load() != 7 {
		t.Errorf("after a restart: %d reports and log %d, state equal %t", next.round.head().reports, next.round.nextLog.Load(), bytes.Equal(next.counted(), c.counted()))
	}
	if got, err := next.submit(0, c.reports(10)); err == nil {
		t.Errorf("a key from before the snapshot with other reports: %v", got)
	}
}

// Snapshots are taken by themselves, in the midst of submissions, and count nothing twice.
func TestSnapshotsAreTakenUnderLoad(t *testing.T) {
	t.Parallel() // it mostly waits
	kept := journal.NewMemory()
	c := call(t, kept, smallRound())
	batch := c.reports(fl.MaxBatch)
	const batches = 64 // of 320 kB: one snapshot at least
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range batches / 4 {
				if _, err := c.submit(g*batches+i, batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	c.Close() // waits for the last snapshot
	data, err := kept.Get(c.round.key("snapshot"))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := unmarshalSnapshot(data); err != nil || s.reports == 0 || s.reports != int64(s.next)*fl.MaxBatch {
		t.Errorf("snapshot of %d reports before log %d, %v", s.reports, s.next, err)
	}
	next := call(t, kept, smallRound())
	if n := next.round.head().reports; n != batches*fl.MaxBatch || !bytes.Equal(next.counted(), c.counted()) {
		t.Errorf("%d reports after a restart, want %d", n, batches*fl.MaxBatch)
	}
}

// A journal that was damaged is refused, and the error names the round.
func TestADamagedJournalIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(c *called, b *journal.Batch){
		"head": func(c *called, b *journal.Batch) { b.Put(headKey("r"), []byte{7}) },
		"head of another": func(c *called, b *journal.Batch) {
			_ = c.round.head().put(b)
			b.Put(headKey("q"), b.Changes()[0].Value)
		},
		"snapshot":           func(c *called, b *journal.Batch) { b.Put(c.round.key("snapshot"), make([]byte, 15)) },
		"snapshot of damage": func(c *called, b *journal.Batch) { b.Put(c.round.key("snapshot"), make([]byte, 99)) },
		"log of no reports":  func(c *called, b *journal.Batch) { b.Put(c.round.logKey(0), []byte("???")) },
		"log of bad reports": func(c *called, b *journal.Batch) { b.Put(c.round.logKey(0), bytes.Repeat([]byte{255}, 5)) },
		"log key":            func(c *called, b *journal.Batch) { b.Put(c.round.key("log/x"), nil) },
		"model":              func(c *called, b *journal.Batch) { b.Put([]byte(modelKey), []byte{1}) },
		"model without data": func(c *called, b *journal.Batch) { b.Put([]byte(modelKey), make([]byte, 8)) },
	} {
		kept := journal.NewMemory()
		c := call(t, kept, smallRound())
		if _, err := c.submit(1, c.reports(2)); err != nil {
			t.Fatal(err)
		}
		var b journal.Batch
		spoil(c, &b)
		if err := kept.Commit(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := New(Config{Journal: kept, Logger: slog.New(slog.DiscardHandler)}); err == nil || !strings.HasPrefix(err.Error(), "server: recover: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Many small batches are replaced by a snapshot, too, and not only many bytes of reports.
func TestSmallBatchesAreReplacedBySnapshots(t *testing.T) {
	c := call(t, journal.NewMemory(), smallRound())
	one := c.reports(1)
	for key := range 3 {
		if _, err := c.submit(key, one); err != nil {
			t.Fatal(err)
		}
	}
	for name, server := range map[string]*called{"the server": c, "the next one": call(t, c.journal.Journal, smallRound())} {
		if got, want := server.round.logged.Load(), int64(3*(len(one)+entryBytes)); got != want {
			t.Errorf("%s: 3 batches of one report are %d bytes of log, want %d", name, got, want)
		}
	}
	c.round.logged.Store(snapshotBytes)
	if c.round.mu.Lock(); !c.round.snapshotDue() {
		t.Error("no snapshot is due")
	}
	c.round.mu.Unlock()
}

// A round that reached its target just before the server stopped is closed by the next one.
func TestATargetReachedBeforeTheStopCloses(t *testing.T) {
	kept := journal.NewMemory()
	r := smallRound()
	r.TargetReports = 5
	c := call(t, kept, r)
	c.Close() // the round can be counted to, and not be closed any more
	if got, err := c.submit(1, c.reports(5)); err != nil || got.accepted != 5 || c.round.settled() {
		t.Fatalf("%+v, %v; settled %t", got, err, c.round.settled())
	}
	next := call(t, kept, r)
	if err := next.round.wait(t.Context()); err != nil || next.round.head().reports != 5 {
		t.Errorf("%+v, %v", next.round.head(), err)
	}
}
