// Package durable writes files and directories that are still there after a power failure. Use it where a
// file must be whole or not there at all, and where a new directory must keep its name. Start with
// [WriteFile] and [MakeDir].
//
// A file's Sync makes the bytes durable, and not the name: the name is the directory's. The same holds for the name of a
// new directory, which stands in the directory above.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// WriteFile writes a file: at path there is what was there before, or data, whole. It is on disk when WriteFile returns
// nil. The file is first written as path + ".new", which a crash may leave behind, so one caller at a time may write it.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// MakeDir is os.MkdirAll for directories whose names must last. It syncs those that were there before, too: the process
// that made them may have been killed before it did.
func MakeDir(dir string, mode fs.FileMode) error {
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	return SyncAbove(dir)
}

// SyncAbove makes the names of a directory and of all directories above it durable.
func SyncAbove(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for above := filepath.Dir(dir); above != dir; dir, above = above, filepath.Dir(above) {
		if err := SyncDir(above); err != nil {
			return err
		}
	}
	return nil
}

// SyncDir makes the names in a directory durable. Windows has no such call, and keeps names by itself. A directory that this process
// may not read, and one of a file system without the call, is left as it is: the process has made nothing there, or can do no more.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	err = d.Sync()
	for _, cannot := range []error{syscall.EINVAL, syscall.EBADF, errors.ErrUnsupported} {
		if errors.Is(err, cannot) {
			err = nil
		}
	}
	return errors.Join(err, d.Close())
}
