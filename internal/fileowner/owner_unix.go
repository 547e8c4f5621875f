//go:build unix

package fileowner

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/hushgrad/hushgrad/fl"
)

// Check returns nil if a file or directory belongs to the user of this process or to root. Another
// owner could change what it holds.
func Check(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if own := os.Geteuid(); ok && stat.Uid != 0 && int(stat.Uid) != own {
		return fl.Invalid("owner", stat.Uid, "must be %d, the user of this process, or root", own)
	}
	return nil
}

// CheckSecret returns nil if Check does, and nobody but the owner may read or write the file.
func CheckSecret(info fs.FileInfo) error {
	if err := Check(info); err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fl.Invalid("mode", fmt.Sprintf("%#o", mode), "must be for the owner alone: chmod 600")
	}
	return nil
}
