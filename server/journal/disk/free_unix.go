//go:build unix && !openbsd && !netbsd && !solaris && !illumos && !aix

package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// freeBytes returns how many bytes of the disk this user may still write.
func freeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(max(s.Bavail, 0)) * uint64(s.Bsize), nil // the types differ between systems
}

// isFull says whether a write found no room.
func isFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }
