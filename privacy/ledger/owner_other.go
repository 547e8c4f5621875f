//go:build !unix

package ledger

import "io/fs"

// checkOwner accepts every file: the standard library does not say whose it is.
func checkOwner(fs.FileInfo) error { return nil }
