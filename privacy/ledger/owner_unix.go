//go:build unix

package ledger

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/hushgrad/hushgrad/fl"
)

// checkOwner returns nil if a file belongs to this process's user or to root. Another owner could
// make the ledger forget a charge.
func checkOwner(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if own := os.Geteuid(); ok && stat.Uid != 0 && int(stat.Uid) != own {
		return fl.Invalid("owner", stat.Uid, "must be %d, the user of this process, or root", own)
	}
	return nil
}
