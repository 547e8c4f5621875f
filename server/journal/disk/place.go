package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/fileowner"
)

// What is in the directory of a journal.
const (
	formatName  = "format"     // says that the directory is a journal, and of which version
	freshName   = "format.new" // becomes the format
	lockName    = "lock"
	ballastName = "ballast"
	engineName  = "engine" // the directory of the engine
)

// format is the content of the format file. A change that older versions cannot read gets a new
// number. Journals of version 1 had notes about two files only.
const (
	formatHead    = "hushgrad journal, version "
	formatVersion = "2"
	format        = formatHead + formatVersion + "\n"
)

// makeDir makes the directory if it is missing, and checks that nobody else can change it.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if info, e := os.Lstat(dir); e != nil || info.Mode().IsDir() {
			return err
		}
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%w: %w", ErrNotJournal, fl.Invalid("dir", "a symbolic link", "must be the directory itself"))
	case !info.IsDir():
		return fmt.Errorf("%w: %w", ErrNotJournal, fl.Invalid("dir", "a file", "must be a directory"))
	}
	if err := fileowner.Check(info); err != nil {
		return fmt.Errorf("%w: %w", ErrNotJournal, err)
	}
	return nil
}

// checkEmpty returns nil if a directory without a format file can become a journal: it holds
// nothing but what is left of an Open that was interrupted.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); name != freshName && name != lockName && name != sumsName {
			return fmt.Errorf("%w: %w", ErrNotJournal, fl.Invalid("dir", name, "must be empty or a journal, it holds other files"))
		}
	}
	return nil
}

// checkFormat reads the format file and returns whether it is there.
func checkFormat(files vfs.FS, dir string) (found bool, err error) {
	f, err := files.Open(files.PathJoin(dir, formatName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	text, err := io.ReadAll(io.LimitReader(f, 64))
	if err = errors.Join(err, f.Close()); err != nil {
		return true, err
	}
	version, ours := strings.CutPrefix(string(text), formatHead)
	switch {
	case !ours:
		return true, fmt.Errorf("%w: %w", ErrNotJournal, fl.Invalid(formatName, string(text), "must begin with %q", formatHead))
	case string(text) != format:
		return true, fmt.Errorf("%w: %w", ErrNotJournal, fl.Invalid("version", strings.TrimSpace(version), "must be %s: use the version of hushgrad that wrote the journal", formatVersion))
	}
	return true, nil
}

// writeFormat makes the directory a journal.
func writeFormat(files vfs.FS, dir string) error {
	fresh := files.PathJoin(dir, freshName)
	f, err := files.Create(fresh, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, format)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := files.Rename(fresh, files.PathJoin(dir, formatName)); err != nil {
		return err
	}
	return syncDir(files, dir)
}

func syncDir(files vfs.FS, dir string) error {
	d, err := files.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
