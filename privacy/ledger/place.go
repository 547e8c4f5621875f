package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/fileowner"
)

// checkFile returns nil if what is at a path can hold a ledger that nobody else can change. The
// information is about the path itself: a link could be pointed elsewhere at any time.
func checkFile(info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%w: %w", ErrNotLedger, fl.Invalid("file", "a symbolic link", "must be the file itself"))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: no regular file", ErrNotLedger)
	}
	if err := fileowner.Check(info); err != nil {
		return fmt.Errorf("%w: %w", ErrNotLedger, err)
	}
	return nil
}

// checkPlace returns nil if file, which is open, is still what is at path.
func checkPlace(file *os.File, path string) error {
	opened, err := file.Stat()
	if err != nil {
		return err
	}
	found, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s was moved away or removed", ErrReplaced, path)
	case err != nil:
		return err
	case !os.SameFile(opened, found):
		return fmt.Errorf("%w: %s is another file than the one that was opened", ErrReplaced, path)
	}
	return nil
}

// inPlace returns nil if the open file is still at its path and holds what this ledger wrote last.
// Only this process can write it, as long as all honour the lock.
func (l *Ledger) inPlace() error {
	if err := checkPlace(l.file, l.path); err != nil {
		return err
	}
	newest, err := newestHeader(l.file)
	if err != nil {
		return fmt.Errorf("%w: %s was overwritten: %w", ErrReplaced, l.path, err)
	}
	if newest.transaction != l.transaction {
		return fmt.Errorf("%w: %s was overwritten by a copy: %w", ErrReplaced, l.path,
			fl.Invalid("step", newest.transaction, "must be %d, the last one that was recorded", l.transaction))
	}
	return nil
}
