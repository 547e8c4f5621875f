package disk_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hushgrad/hushgrad/server/internal/journaltest"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

func TestDiskKeepsTheContract(t *testing.T) {
	t.Parallel() // it waits for the disk
	dir := t.TempDir()
	journaltest.Run(t, true, func(t *testing.T) journal.Journal { return open(t, dir, small()) })
}

func TestALoopSeesTheJournalAsItWasWhenItBegan(t *testing.T) {
	j, _ := fresh(t)
	for i := range 100 {
		must(t, put(j, fmt.Sprintf("old/%02d", i), []byte("old")))
	}
	seen := 0
	for p, err := range j.Scan([]byte("old/"), journal.After([]byte("old/"))) {
		must(t, err)
		if seen++; string(p.Value) != "old" {
			t.Errorf("%s=%s", p.Key, p.Value)
		}
		if seen == 1 {
			must(t, put(j, "old/50", []byte("new")))
			must(t, put(j, "old/new", []byte("new")))
			must(t, remove(j, "old/9"))
		}
	}
	if seen != 100 {
		t.Errorf("the loop saw %d keys", seen)
	}
}

func TestRangesWithoutKeys(t *testing.T) {
	j, _ := fresh(t)
	must(t, put(j, "b", []byte("value")))
	for _, r := range []struct{ from, to []byte }{{[]byte("c"), []byte("a")}, {[]byte("b"), []byte("b")}, {[]byte("a"), nil}, {nil, nil}} {
		for p, err := range j.Scan(r.from, r.to) {
			t.Errorf("[%q, %q) has %s, %v", r.from, r.to, p.Key, err)
		}
	}
	var b journal.Batch
	b.Delete([]byte("c"), []byte("a"))
	b.Delete([]byte("b"), []byte("b"))
	must(t, j.Commit(&b))
	if found, err := read(j, "b"); err != nil || len(found) != 1 {
		t.Errorf("got %v, %v", found, err)
	}
}

func TestBatchesThatAreRefused(t *testing.T) {
	j, _ := fresh(t)
	if err := put(j, "", []byte("value")); err == nil {
		t.Error("an empty key was accepted")
	}
	if err := put(j, "key", make([]byte, 1<<30+64<<10)); err == nil {
		t.Error("a batch above the limit was accepted")
	}
	must(t, j.Commit(new(journal.Batch)))
}

func TestAClosedJournalSaysSo(t *testing.T) {
	j, dir := fresh(t)
	must(t, put(j, "key", nil))
	must(t, j.Close())
	_, getErr := j.Get([]byte("key"))
	_, scanErr := read(j, "k")
	_, metricsErr := j.Metrics()
	for _, err := range []error{getErr, scanErr, metricsErr, put(j, "key", nil), j.Backup(t.Context(), dir+".copy")} {
		if !errors.Is(err, disk.ErrClosed) {
			t.Errorf("got error %v", err)
		}
	}
	must(t, j.Close())
}

// An acknowledgement waits for the disk, and the figures show it.
func TestEveryCommitWaitsForTheDisk(t *testing.T) {
	j, _ := fresh(t)
	before, err := j.Metrics()
	must(t, err)
	for range 10 {
		must(t, put(j, "key", make([]byte, 10_000)))
	}
	var after disk.Metrics
	until(t, "10 commits wait 10 times", func() bool { // the engine counts a wait after it answers
		after, err = j.Metrics()
		must(t, err)
		return after.Fsyncs.Count-before.Fsyncs.Count >= 10
	})
	if last := after.Fsyncs.Buckets[len(after.Fsyncs.Buckets)-1]; after.Fsyncs.Sum <= 0 || last.Count > after.Fsyncs.Count || last.UpTo.Seconds() != 10 {
		t.Errorf("got %v in %v, of which %v", after.Fsyncs.Count, after.Fsyncs.Sum, last)
	}
	if after.DiskBytes == 0 || after.FreeBytes == 0 || after.Full {
		t.Errorf("got %d bytes, %d free, full %v", after.DiskBytes, after.FreeBytes, after.Full)
	}
}
