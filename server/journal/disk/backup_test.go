package disk_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

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

// ending is a context that ends after it was asked some times.
type ending struct {
	context.Context
	left atomic.Int64
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A copy of damaged pairs is no copy, and a copy may be given up while it is written.
func TestACopyThatFailsLeavesNothing(t *testing.T) {
	j, dir := fresh(t)
	value := bytes.Repeat([]byte("needle"), 1000)
	must(t, put(j, "key", value))
	ctx := &ending{Context: t.Context()}
	ctx.left.Store(2) // it ends while the copy is written
	to := filepath.Join(filepath.Dir(dir), "copy")
	if err := j.Backup(ctx, to); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	path := filepath.Join(dir, "journal.db")
	data, err := os.ReadFile(path)
	must(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte("x"), int64(bytes.LastIndex(data, value)))
	must(t, errors.Join(err, f.Close()))
	if err := j.Backup(t.Context(), to); !errors.Is(err, disk.ErrDamaged) {
		t.Errorf("got error %v", err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}
