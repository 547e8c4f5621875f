package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/hushgrad/hushgrad/fl"
)

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
	if err := checkPlace(l.file.Descriptor, l.path); err != nil {
		return err
	}
	newest, err := kind.Newest(l.file.Descriptor)
	if err != nil {
		return fmt.Errorf("%w: %s was overwritten: %w", ErrReplaced, l.path, err)
	}
	if newest.Transaction != l.transaction {
		return fmt.Errorf("%w: %s was overwritten by a copy: %w", ErrReplaced, l.path,
			fl.Invalid("step", newest.Transaction, "must be %d, the last one that was recorded", l.transaction))
	}
	return nil
}
