// Package boltfile opens files of bbolt whose damage must be noticed. bbolt trusts its pages: a damaged
// one ends the process, or loses what was written. Use the package for a store that must not forget a
// step. Start with [Kind.Open].
package boltfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/durable"
	"github.com/hushgrad/hushgrad/internal/fileowner"
)

// Kind is a kind of file: what it holds, and the errors that say what is wrong with one.
type Kind struct {
	// Locked is wrapped when another process has the file for longer than the timeout.
	Locked error
	// Foreign is wrapped for something else, a symbolic link, and on Unix a file of another user.
	Foreign error
	// Damaged is wrapped for bytes that are not what was written.
	Damaged error
	// Initialise writes what a new file holds.
	Initialise func(*bolt.Tx) error
	// Check reads everything in the file and returns what is wrong with it. All pages are sound.
	Check func(*bolt.Tx) error
	// Options are bbolt's. Timeout, ReadOnly and OpenFile are set here.
	Options bolt.Options
}

// File is an open file.
type File struct {
	*bolt.DB
	// Descriptor is the file that is read and written.
	Descriptor *os.File
}

// Create makes a new file at path, unless another process does so first. It is made as path + ".new"
// and renamed when it is complete, so that path never holds half of one. A process that holds the lock
// of path + ".new" and sees no path is the only one that can make it: a file that loses the name has
// become path, and path never vanishes.
func (k Kind) Create(path string, timeout time.Duration) error {
	fresh := path + ".new"
	f, err := k.open(fresh, timeout, false)
	if err != nil {
		return fmt.Errorf("%s, which has never held anything: %w", fresh, err)
	}
	defer f.Close()
	switch _, err := os.Lstat(path); {
	case err == nil:
		_ = os.Remove(fresh) // if it is still there, nobody can make a file of it
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := f.Update(k.Initialise); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// Open opens the file at path, which it locks for this process alone, after it has read the whole file
// and found it sound. Cost: reading the file twice.
func (k Kind) Open(path string, timeout time.Duration) (*File, error) {
	for end := time.Now().Add(timeout); ; {
		checked, err := k.Verify(path, timeout)
		if err != nil {
			return nil, err
		}
		f, err := k.open(path, timeout, false)
		if err != nil {
			return nil, err
		}
		newest, err := k.Newest(f.Descriptor)
		if err == nil && newest == checked {
			// The process that made the file or the directories above it may have ended before their names were durable.
			if err = durable.SyncAbove(path); err == nil {
				return f, nil
			}
		}
		if err = errors.Join(err, f.Close()); err != nil { // somebody else wrote meanwhile
			return nil, err
		}
		if time.Now().After(end) {
			return nil, k.Locked
		}
	}
}

// Verify reads the whole file at path and returns its newest header if the file is sound.
func (k Kind) Verify(path string, timeout time.Duration) (newest Header, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return newest, err
	}
	if err := k.CheckPlace(info); err != nil {
		return newest, err
	}
	if info.Size() == 0 {
		return newest, fmt.Errorf("%w: empty file", k.Damaged)
	}
	// Read only, bbolt holds a lock and has read nothing but the headers.
	f, err := k.open(path, timeout, true)
	switch {
	case errors.Is(err, k.Locked):
		return newest, err
	case errors.Is(err, bolterrors.ErrChecksum):
		return newest, fmt.Errorf("%w: %w", k.Damaged, err)
	case err != nil:
		return newest, fmt.Errorf("%w: %w", k.Foreign, err)
	}
	defer f.Close()
	if newest, err = k.Newest(f.Descriptor); err != nil {
		return newest, err
	}
	if err := k.checkPages(newest, f.Descriptor); err != nil {
		return newest, err
	}
	return newest, k.Guard(func() error { return f.View(k.Check) })
}

// CheckPlace returns nil if what is at a path can hold a file that nobody else can change. The
// information is about the path itself: a link could be pointed elsewhere at any time.
func (k Kind) CheckPlace(info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%w: %w", k.Foreign, fl.Invalid("file", "a symbolic link", "must be the file itself"))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: no regular file", k.Foreign)
	}
	if err := fileowner.Check(info); err != nil {
		return fmt.Errorf("%w: %w", k.Foreign, err)
	}
	return nil
}

// open opens a file without a look at what it holds.
func (k Kind) open(path string, timeout time.Duration, readOnly bool) (f *File, err error) {
	f = &File{}
	options := k.Options
	options.Timeout, options.ReadOnly = timeout, readOnly
	options.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		opened, err := openFile(name, flag, mode)
		if f.Descriptor == nil { // a copy opens the file once more
			f.Descriptor = opened
		}
		return opened, err
	}
	err = k.Guard(func() (err error) {
		f.DB, err = bolt.Open(path, 0o600, &options)
		return err
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		err = k.Locked
	}
	return f, err
}

// Guard makes an error of a panic or of a read beyond the mapped memory, which is how bbolt, which
// trusts its pages, meets damaged ones.
func (k Kind) Guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", k.Damaged, r)
		}
	}()
	return do()
}
