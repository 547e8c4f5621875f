package disk_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hushgrad/hushgrad/server/journal"
)

// A real disk that becomes full below traffic, and has room again.
func TestARealFullDiskLosesNothing(t *testing.T) {
	t.Parallel() // it waits for the disk
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=96m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(mount, syscall.MNT_DETACH)) })
	for name, minFree := range map[string]int64{"a look at the disk refuses": 4 << 20, "the disk refuses": 1} {
		opts := small()
		opts.MinFree = minFree
		filler := filepath.Join(mount, "filler")
		t.Run(name, func(t *testing.T) { // closes the journal before it is unmounted
			fillAndEmpty(t, filepath.Join(mount, name), opts, func() {
				f, err := os.Create(filler)
				must(t, err)
				defer f.Close()
				for block := make([]byte, 64<<10); ; {
					if _, err := f.Write(block); err != nil {
						return
					}
				}
			}, func() { must(t, os.Remove(filler)) })
		})
		must(t, os.RemoveAll(filepath.Join(mount, name)))
	}
}

// A batch that only deletes is written on a disk without a free byte, though it changes many pages.
func TestADeletionFindsRoomOnARealFullDisk(t *testing.T) {
	t.Parallel() // it waits for the disk
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(mount, syscall.MNT_DETACH)) })
	t.Run("", func(t *testing.T) { // closes the journal before it is unmounted
		opts := small()
		opts.MinFree = 1
		j := open(t, filepath.Join(mount, "journal"), opts)
		key := func(n int) string { return fmt.Sprintf("pair/%06d", n) }
		var b journal.Batch
		for n := range 4000 {
			b.Put([]byte(key(n)), make([]byte, 1000))
		}
		must(t, j.Commit(&b))
		fill := func() {
			f, err := os.OpenFile(filepath.Join(mount, "filler"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			must(t, err)
			defer f.Close()
			for err == nil {
				_, err = f.Write(make([]byte, 4096))
			}
		}
		fill()
		var free syscall.Statfs_t
		if must(t, syscall.Statfs(mount, &free)); free.Bavail > 0 {
			t.Fatal("the disk is not full")
		}
		until(t, "it is refused", func() bool { return errors.Is(put(j, "more", make([]byte, 9000)), journal.ErrFull) })
		b = journal.Batch{}
		for n := 0; n < 4000; n += 200 { // each on a page of its own
			b.Delete([]byte(key(n)), []byte(key(n+1)))
		}
		must(t, j.Commit(&b))
		pairs, err := read(j, "pair/")
		if must(t, err); len(pairs) != 3980 {
			t.Errorf("%d pairs are left", len(pairs))
		}
		must(t, os.Remove(filepath.Join(mount, "filler")))
		until(t, "there is room", func() bool { return j.Room() == nil })
		must(t, put(j, "more", nil))
		if info, err := os.Stat(filepath.Join(mount, "journal", "reserve")); err != nil || info.Size() != 256<<10 {
			t.Errorf("the reserve was not made again: %v", err)
		}
	})
}
