package disk_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A real disk that becomes full below traffic, and has room again.
func TestARealFullDiskLosesNothing(t *testing.T) {
	t.Parallel() // it waits for the disk
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=96m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(mount, 0)) })
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
