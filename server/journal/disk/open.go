package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hushgrad/hushgrad/internal/prefix"
)

// Open opens the journal in a directory, which it locks, and makes it with mode 0700 if it is
// missing. The error wraps ErrLocked if another process uses the journal, ErrNotJournal if the
// directory is a symbolic link, holds something else, was written by a later version, or on Unix
// belongs to another user, and ErrDamaged if a file of the journal is missing or is not what was
// written. Cost: reading the whole journal once, and what was committed since tables were written
// last, at most 32 MiB and one batch, a second time.
func Open(dir string, opts Options) (_ *Journal, err error) {
	defer prefix.Error(&err, "disk: open %s", dir)
	if opts, err = opts.withDefaults(); err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil { // the process may change its directory
		return nil, err
	}
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	found, err := checkFormat(opts.fs, dir)
	if err == nil && !found {
		err = checkEmpty(dir)
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: dir, options: opts, room: newRoom(dir, opts), failure: &failure{logger: opts.Logger, exit: opts.exit}}
	if j.lock, err = opts.fs.Lock(filepath.Join(dir, lockName)); err != nil {
		if _, ok := errors.AsType[*fs.PathError](err); ok { // the lock's file could not be made
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", ErrLocked, err)
	}
	if err := j.start(); err != nil {
		return nil, errors.Join(err, j.lock.Close())
	}
	return j, nil
}

// start opens the engine. The directory is locked.
func (j *Journal) start() error {
	files := j.options.fs
	found, err := checkFormat(files, j.dir)
	if err != nil {
		return err
	}
	if !found {
		if err := errors.Join(checkEmpty(j.dir), makeSums(files, j.dir, nil), writeFormat(files, j.dir)); err != nil {
			return err
		}
	}
	engine := filepath.Join(j.dir, engineName)
	if err := os.Mkdir(engine, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if j.sums, err = openSums(files, j.dir, engine); err != nil {
		return err
	}
	j.room.find()
	noted := notedFS{FS: files, sums: j.sums, engine: engine}
	j.db, err = pebble.Open(engine, j.options.pebble(vfs.OnDiskFull(noted, j.room.release), j.failure))
	if err != nil {
		return errors.Join(readError(err), j.sums.file.Close())
	}
	j.room.look(0)
	return nil
}
