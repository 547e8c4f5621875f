//go:build !windows

package boltfile

import "os"

// openFile opens a file that Create may rename while it is open.
func openFile(name string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, mode)
}
