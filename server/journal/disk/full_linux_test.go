package disk_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// On a real file system that somebody else fills to the last byte.
func TestARealFullDiskLosesNothing(t *testing.T) {
	t.Parallel() // it waits for the disk
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=96m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(mount, 0)) })
	opts := small().With(nil, func() { panic("the process ends") })
	opts.MinFree, opts.BallastBytes = 4<<20, 4<<20
	filler := filepath.Join(mount, "filler")
	t.Run("traffic", func(t *testing.T) { // closes the journal before it is unmounted
		fillAndEmpty(t, filepath.Join(mount, "journal"), opts, func() {
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
}
