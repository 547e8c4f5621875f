package disk_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// A copy that is made below traffic holds what was acknowledged before, and whole batches.
func TestACopyIsAJournalAsItWasAtOneMoment(t *testing.T) {
	t.Parallel() // it waits for the disk
	j, _ := fresh(t)
	acknowledged := map[string]string{}
	commit := func(life string, g, n int) map[string]string {
		var b journal.Batch
		added := map[string]string{}
		for part := range parts {
			key := partKey(life, g, n, part)
			b.Put([]byte(key), partValue(key))
			added[key] = string(partValue(key))
		}
		if err := j.Commit(&b); err != nil {
			t.Error(err)
		}
		return added
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
					commit("traffic", g, n)
				}
			}
		})
	}
	for round := range 3 {
		for n := range 20 {
			for key, value := range commit("before", round, n) {
				acknowledged[key] = value
			}
		}
		to := filepath.Join(t.TempDir(), "copy")
		must(t, j.Backup(t.Context(), to))
		copied := open(t, to, small())
		checkCrash(t, copied, "crash/", acknowledged)
		must(t, put(copied, "key", nil))
		must(t, copied.Close())
	}
	close(stop)
	wg.Wait()
}

// The files of a copy have the names of the journal's, and are not noted in its place.
func TestACopyLeavesTheChecksumsAlone(t *testing.T) {
	var notes atomic.Int64
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, small().With(errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Path == filepath.Join(dir, "sums") && op.Kind == errorfs.OpFileWriteAt {
			notes.Add(1)
		}
		return nil
	})), nil))
	must(t, put(j, "key", nil))
	before := notes.Load()
	must(t, j.Backup(t.Context(), dir+".copy"))
	if after := notes.Load(); before == 0 || after != before {
		t.Errorf("%d notes were written before and %d during the backup", before, after-before)
	}
}

func TestDamageOfACopyIsNoticed(t *testing.T) {
	j, _ := fresh(t)
	for n := range 10 {
		must(t, put(j, fmt.Sprintf("damage/%d", n), make([]byte, 100)))
	}
	to := filepath.Join(t.TempDir(), "copy")
	must(t, j.Backup(t.Context(), to))
	for _, pattern := range []string{"engine/*.log", "engine/MANIFEST-*"} {
		names := filesOf(t, to, pattern)
		_, err := opened(t, to, names[len(names)-1], func(data []byte) []byte { data[len(data)/2] ^= 1; return data })
		if !errors.Is(err, disk.ErrDamaged) {
			t.Errorf("%s: got error %v", pattern, err)
		}
	}
}

func TestCopiesThatAreRefused(t *testing.T) {
	j, dir := fresh(t)
	must(t, put(j, "key", nil))
	for _, to := range []string{dir, t.TempDir()} {
		if err := j.Backup(t.Context(), to); !errors.Is(err, fs.ErrExist) {
			t.Errorf("got error %v", err)
		}
	}
	if err := j.Backup(t.Context(), filepath.Join(t.TempDir(), "no", "parent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	to := filepath.Join(t.TempDir(), "copy")
	if err := j.Backup(ctx, to); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
	if _, err := j.Get([]byte("key")); err != nil {
		t.Error(err)
	}
}
