package disk_test

import (
	"errors"
	"fmt"
	"strings"
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

// A loop holds no lock. It sees each key that is there all the time once, in order, however large the values are.
func TestALoopMayCommit(t *testing.T) {
	j, _ := fresh(t)
	for i := range 100 {
		must(t, put(j, fmt.Sprintf("old/%02d", i), make([]byte, 10<<10)))
	}
	seen := 0
	for p, err := range j.Scan([]byte("old/"), journal.After([]byte("old/"))) {
		must(t, err)
		if want := fmt.Sprintf("old/%02d", seen); string(p.Key) != want || len(p.Value) != 10<<10 {
			t.Fatalf("%s with %d bytes, want %s", p.Key, len(p.Value), want)
		}
		seen++
		must(t, put(j, "new", make([]byte, 1<<20)))
		if seen == 50 {
			must(t, remove(j, "old/9"))
		}
	}
	if seen != 90 {
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
	if err := put(j, strings.Repeat("k", 32<<10+1), nil); err == nil || !strings.Contains(err.Error(), "must have 1 to 32768") {
		t.Errorf("a long key: got error %v", err)
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
	after, err := j.Metrics()
	must(t, err)
	if after.Writes-before.Writes != 10 || after.Waited <= before.Waited {
		t.Errorf("10 commits are %d writes in %v", after.Writes-before.Writes, after.Waited-before.Waited)
	}
	if after.DiskBytes == 0 || after.FreeBytes == 0 || after.Full {
		t.Errorf("got %d bytes, %d free, full %v", after.DiskBytes, after.FreeBytes, after.Full)
	}
}
