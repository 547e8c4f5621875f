//go:build unix

package fileowner

import (
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
